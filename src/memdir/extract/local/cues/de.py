"""German cues: one phrase a line (how to write one: table.py)."""

from __future__ import annotations

from memdir.extract.local.cues.table import Cue, table

GERMAN = table(
    "de",
    {
        Cue.STANDING: """
            ab jetzt
            ab sofort
            von jetzt an
            künftig
            in zukunft
            zukünftig
            grundsätzlich
            standardmäßig
            generell
            ein für alle mal
            gilt für alle
            gilt immer
            nicht nur hier
            nicht nur die hier
            ohne ausnahme
            jedes mal wenn
            immer wenn du
            wenn du mir
            feste regel
            unsere regel
            auf dauer
            dauerhaft
            immer so
            in allen
            für alle
            bei allen
            nächstes mal
            beim nächsten mal
            in der regel
            wenn du … schreibst
            das gilt
            prinzipiell
            pro forma
        """,
        Cue.DURABLE: """
            immer
            nie
            niemals
            stets
            jedes mal
            jede
            jeder
            jedes
            alle neuen
            alles neue
            in diesem projekt
            in diesem repo
            bei uns
            nie wieder
            nicht mehr
            bis auf weiteres
        """,
        Cue.DIRECTIVE: """
            bitte
            ^nie
            ^immer
            ^keine
            ^kein
            ^nimm
            ^nutze
            ^nutz
            ^schreib
            ^schreibe
            ^lass
            ^mach
            ^frag
            ^sag
            ^zeig
            ^antworte
            ^verwende
            ^benutze
            du sollst
            du kannst
            du brauchst
            du musst
            sollst du
            kannst du weglassen
            wir machen
            wir nehmen
            wir schreiben
            wir nutzen
            wir verwenden
            muss immer
            darf nie
            dürfen nie
            darf nicht
            dürfen nicht
            niemand darf
            anreden
            verwenden
            bitte keine
            bitte kein
            bitte nicht
        """,
        Cue.REASON: """
            weil
            denn
            da sonst
            sonst
            damit
            deshalb
            deswegen
            darum
            der grund
            grund ist
            wegen
            letztes mal
            schon mal
            schon einmal
            hat uns
            kostet uns
            nämlich
            rechtlich
            letztes jahr
            letzten monat
            beschweren
            beschwert
            versteht
            kann … nicht lesen
            zu lang
            dauert
            verstehen … nicht
            versteht … nicht
            kann keiner
            liest keiner
            liest niemand
            bricht
            dauert sonst
        """,
        Cue.APPROVAL: """
            ^genau
            ^perfekt
            ^super
            ^ja genau
            genau so
            genau das
            so ist es richtig
            gefällt mir
            war richtig
            sehr gut
            so mag ich
            so passt
        """,
        Cue.CONTINUE: """
            weiter so
            mach weiter so
            so weiter
            bleib dabei
            so beibehalten
            beibehalten
            so lassen
            mach das immer so
            immer so
            künftig auch
            auch künftig
            ab jetzt so
        """,
        Cue.CORRECTION: """
            ^nee
            ^nein
            ^nicht so
            ^so nicht
            ^falsch
            ^stopp
            ^hör auf
            schon wieder
            hab ich doch gesagt
            statt
            anstatt
            ^^keine
            ^^kein
        """,
        Cue.ROLE: """
            ich bin
            ich arbeite
            ich leite
            ich betreue
            ich komme aus
            ich kenne
            ich kann kein
            ich habe noch nie
            ich hab noch nie
            ich mache seit
            ich schreibe seit
            seit … jahren
            jahre erfahrung
            anfänger
            anfängerin
            neuling
            von haus aus
            gelernter
            gelernte
            studiert
            farbenblind
            mein hintergrund
            neu für mich
            ich bin … von beruf
            ich entwickle
            ich programmiere
            ich habe … studiert
            ich hab … gelernt
            bin kein entwickler
            bin keine entwicklerin
            kein programmierer
            ich komme von
            ich bin neu
            ich bin der
            ich bin die
            muttersprache
            quereinsteiger
            quereinsteigerin
            programmiere erst
            programmiere seit
        """,
        Cue.PREFERENCE: """
            ich mag
            ich mag kein
            ich hasse
            ich bevorzuge
            ich will
            mir ist lieber
            ich finde
            ich möchte
            ich lese
            bei mir
            für mich
            mir gegenüber
            mit mir
            nervt mich
            stört mich
            am liebsten
            duz mich
            siezen
            duzen
        """,
        Cue.FIRST: """
            ich
            mir
            mich
            mein
            meine
            wir
            uns
            unser
            unsere
            unseren
        """,
        Cue.TEAM: """
            unser team
            im team
            das team
            bei uns im
            wir alle
            unsere abteilung
            unsere gruppe
            das ganze team
        """,
        Cue.DECISION: """
            haben entschieden
            wurde entschieden
            ist entschieden
            entschieden
            beschlossen
            wir haben uns
            einigt
            geeinigt
            festgelegt
            steht fest
            wir bleiben bei
            wir nehmen
            wir wechseln
            verschoben
            abgesagt
            gestrichen
            auf eis
            vom tisch
            zurückgestellt
        """,
        Cue.COMMITMENT: """
            frist
            abgabe
            abgabetermin
            deadline
            stichtag
            termin
            launch
            release
            auslieferung
            lieferung
            freeze
            live
            go-live
            abnahme
            prüfung
            audit
            umstellung
            umzug
            abgeschaltet
            abschaltung
            schalten … ab
            schaltet … ab
            läuft aus
            läuft … ab
            läuft ab
            laufen … ab
            beginnt
            startet
            endet
            in kraft
            urlaub
            elternzeit
            messe
            vorführung
            demo
            übergabe
            fertig sein
            muss raus
            migration
            eingefroren
            fällig
            veröffentlicht
            go live
            launchen
            ausgeliefert
            abgeben
            abgegeben
            prüft
            wird … abgeschaltet
            werden … abgeschaltet
            kündigt
            endet der
            vertrag
            wartung
            schulung
            sperre
            code-freeze
            lieferstopp
        """,
        Cue.INCIDENT: """
            ausfall
            ausgefallen
            war down
            lag flach
            vorfall
            störung
            datenverlust
            verloren
            gelöscht
            versehentlich
            doppelt abgebucht
            doppelt berechnet
            ursache
            abgestürzt
            lahmgelegt
            kaputt
        """,
        Cue.PLACE: """
            liegt in
            liegt im
            liegt auf
            liegt unter
            liegen in
            liegen im
            liegen auf
            liegen unter
            steht in
            steht im
            stehen in
            stehen im
            ist in
            ist im
            ist auf
            sind in
            sind im
            sind auf
            findest du
            findet man
            zu finden
            dokumentiert
            abgelegt
            kommt aus
            kommen aus
            liegt bei
            liegen bei
            findet sich
            finden sich
            unter https
            auf https
            steht auf
            stehen auf
            werden in
            wird in
            ist unter
            sind unter
        """,
        Cue.OUTSIDE: """
            wiki
            confluence
            dashboard
            laufwerk
            netzlaufwerk
            ordner
            handbuch
            tickets
            ticketsystem
            kanal
            board
            tabelle
            portal
            tresor
            server
            postfach
            unterlagen
            vorlagen
            protokolle
            jira
            grafana
            sharepoint
        """,
        Cue.OWNER: """
            zuständig
            verantwortlich
            ansprechpartner
            ansprechpartnerin
            kümmert sich
            frag …
            pflegt
            hat zugriff
            haben zugriff
        """,
        Cue.CHANGE: """
            verschoben
            verschiebt sich
            geändert
            umgezogen
            statt
            stattdessen
            nicht mehr
            jetzt
            neuerdings
            ab sofort
            vorgezogen
            verlängert
            umgestellt
            heißt jetzt
            ist jetzt
            sind jetzt
        """,
        Cue.REMEMBER: """
            merk dir
            merke dir
            merken sie sich
            merkt euch
            bitte merken
            merken:
            behalte im kopf
            behalt im kopf
            notier dir
            notiere dir
            notier das
            vergiss nicht
            nicht vergessen
            denk dran
            denk daran
            zum merken
            speicher dir
            speicher das
        """,
        Cue.FORGET: """
            vergiss das
            vergiss die
            vergiss den
            vergiss was
            vergiss alles
            vergiss bitte
            ^vergiss
            vergessen sie
            bitte vergessen
            kannst du vergessen
            kannst du löschen
            lösch
            lösche
            streich
            streiche
            entferne
            wirf
        """,
        Cue.NOTE: """
            notiz
            notizen
            eintrag
            gemerkt
            gemerkten
            gespeichert
            gedächtnis
            erinnerung
            merkzettel
            was du über
            alles über
            alles zu
        """,
        Cue.RETRACT: """
            vergiss es
            vergiss das
            vergiss was ich
            kommando zurück
            doch nicht
            nehme ich zurück
            nehm ich zurück
            zurück
            ich hab mich geirrt
            ich habe mich geirrt
            mein fehler
            verwechselt
            falsches projekt
            war quatsch
            stimmt nicht
            streich das
            ach nein
            war ein scherz
        """,
        Cue.LIMITED: """
            nur diesmal
            nur dieses mal
            diesmal
            dieses mal
            ausnahmsweise
            nur heute
            für heute
            heute nur
            heute abend
            vorerst
            erstmal
            erst mal
            fürs erste
            vorübergehend
            für diesen
            für dieses
            für diese
            in diesem pr
            in diesem branch
            nur hier
            gerade
            im moment
            schnell mal
            provisorisch
            kurz
        """,
        Cue.HYPOTHETICAL: """
            angenommen
            mal angenommen
            was wäre wenn
            was wäre
            wenn wir … hätten
            wenn wir … wären
            stell dir vor
            theoretisch
            hypothetisch
            gedankenspiel
            würden wir
            würdest du
            wäre es
            hätten wir
            nur so aus neugier
        """,
        Cue.HEDGE: """
            vielleicht
            eventuell
            möglicherweise
            vermutlich
            wahrscheinlich
            glaube ich
            ich glaube
            mal sehen
            noch nicht entschieden
            noch offen
            könnte
            angeblich
        """,
        Cue.SARCASM: """
            na toll
            na super
            na wunderbar
            ganz toll
            toll, schon wieder
            super, schon wieder
            herrlich
            ja klar
            wie schön
            mein liebstes
            lieblings
            prima, noch
            großartig, noch
            ich liebe es, wenn
            haha
            😂
            🙄
            🙃
        """,
        Cue.QUOTED: """
            er sagt
            sie sagt
            sagt er
            sagt sie
            sagt, wir
            meint, wir
            laut
            angeblich
            schreibt
            schrieb
            kunden
            kunde
            der autor
            der artikel
            im blog
            der kollege
            die kollegin
            mein chef
            andere team
            anderes team
            anderen team
            das falsche produkt
        """,
        Cue.PASTE: """
            log
            ausgabe
            fehler
            fehlermeldung
            mail
            e-mail
            nachricht
            ticket
            kommentar
            brief
            text
            seite
            schreibt
            schrieb
            auszug
        """,
        Cue.QUESTION: """
            ^^was
            ^^wer
            ^^wie
            ^^wo
            ^^warum
            ^^wieso
            ^^weshalb
            ^^wann
            ^^welche
            ^^welcher
            ^^welches
            ^^kannst du
            ^^können wir
            ^^soll ich
            ^^sollen wir
            ^^hast du
            ^^gibt es
            ^^ist das
            ^^ist es
        """,
        Cue.TASK: """
            ^^schreib mir
            ^^mach mir
            ^^füge
            ^^ändere
            ^^ergänze
            ^^entferne
            ^^lösche
            ^^teste
            ^^prüf
            ^^baue
            ^^bau
            ^^zeig mir
            ^^kannst du
            ^^schau
        """,
        Cue.FILLER: """
            ok
            okay
            ja
            nee
            nein
            gut
            also
            ach
            ach ja
            übrigens
            bitte
            danke
            und
            noch was
            noch eins
            merk dir
            merk dir bitte
            merke dir
            bitte merk dir
            genau
            genau so
            so nicht
            ab jetzt
            ab sofort
            künftig
        """,
        Cue.PAST: """
            war
            waren
            wurde
            wurden
            hatte
            hatten
            gestern
            letzte
            letzten
            letzter
            vor
            passiert
        """,
        Cue.OLD: """
            alt
            alte
            alten
            alter
            altes
            bisherige
            frühere
        """,
        Cue.NEW: """
            neu
            neue
            neuen
            neuer
            neues
            aktuelle
        """,
        Cue.SECRET: """
            passwort
            passwörter
            kennwort
            schlüssel
            geheimnis
            token
            zugangsdaten
            pin
            key
        """,
        Cue.KNOWN: """
            wie immer
            wie üblich
            wie gehabt
            wie letztes mal
            wie besprochen
            du weißt ja
            du kennst das
        """,
        Cue.CONNECTIVE: """
            weil
            denn
            sonst
            da sonst
            damit
        """,
        Cue.ALL: """
            beides
            alles
            alle
        """,
        Cue.BACK: """
            merk dir das
            das gilt
            notier das
            notier dir das
            speicher das
        """,
        Cue.PRACTICE: """
            wir machen
            wir nehmen
            wir nutzen
            wir schreiben
            wir arbeiten
            wir halten
        """,
        Cue.EXPLICIT: """
            ^vergiss
            bitte vergiss
            vergiss bitte
            kannst du vergessen
            bitte vergessen
        """,
        Cue.POINTS: """
            das
            dies
            es
            diese
            dort
            da
        """,
        Cue.INDEFINITE: """
            merk dir was
            merk dir etwas
            merk dir mal was
            notier dir was
        """,
        Cue.CASE: """
            wenn du
            wenn ein
            wenn eine
            wenn es
            falls
            sobald
            bevor du
            bei neuen
            bei jedem
            bei jeder
            bei tests
            bei commits
            im zweifel
            was du
        """,
        Cue.ELSEWHERE: """
            irgendwo
            ins readme
            in die doku
            als kommentar
            ins ticket
        """,
        Cue.DECIDED: """
            haben entschieden
            haben beschlossen
            wurde entschieden
            wurde beschlossen
            ist entschieden
            ist beschlossen
            entschieden ist
            wir bleiben bei
            steht fest
            endgültig
        """,
        Cue.PREFERS: """
            ich mag
            ich mag kein
            ich hasse
            ich bevorzuge
            mir ist lieber
            nervt mich
            stört mich
            am liebsten
            ich kann … nicht lesen
        """,
        Cue.PEOPLE: """
            unsere
            uns
            niemand
            keiner
            kunden
            leser
            kollegen
            team
            mich
            mir
            alle
            die leute
            prüfer
        """,
    },
)
