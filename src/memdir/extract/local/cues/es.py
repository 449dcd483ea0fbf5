"""Spanish cues: one phrase a line (how to write one: table.py)."""

from __future__ import annotations

from memdir.extract.local.cues.table import Cue, table

SPANISH = table(
    "es",
    {
        Cue.STANDING: """
            a partir de ahora
            de ahora en adelante
            en adelante
            desde ahora
            por defecto
            por norma
            como norma
            como regla
            en general
            en lo sucesivo
            siempre que
            cada vez que
            vale para todos
            vale para todas
            no solo esta
            no solo este
            no sólo
            sin excepción
            para siempre
            regla fija
            nuestra norma
            en todos
            en todas
            la próxima vez
            de aquí en adelante
            a partir de hoy
            por costumbre
            norma de la casa
            norma del equipo
            eso vale
            esto vale
            vale también
        """,
        Cue.DURABLE: """
            siempre
            nunca
            jamás
            cada vez
            todos los
            todas las
            cualquier
            nunca más
            en este proyecto
            en este repo
            aquí
            nadie puede
            ya no
        """,
        Cue.DIRECTIVE: """
            ^no
            ^nunca
            ^siempre
            ^usa
            ^pon
            ^escribe
            ^haz
            ^deja
            ^evita
            ^dime
            ^responde
            ^contesta
            ^nada de
            ^así que
            por favor
            no uses
            no pongas
            no hagas
            no toques
            no me
            tienes que
            hay que
            debes
            quiero que
            prefiero que
            usamos
            trabajamos con
            háblame
            trátame
        """,
        Cue.REASON: """
            porque
            ya que
            puesto que
            así que
            por eso
            para que
            si no
            de lo contrario
            el motivo
            la razón
            debido a
            la última vez
            nos costó
            nos pasó
            ya nos
            es que
            no entiende
            no entienden
            no lee
            no leen
            se rompe
            nos rompió
            cuesta
        """,
        Cue.APPROVAL: """
            ^exacto
            ^exactamente
            ^perfecto
            ^eso es
            ^eso mismo
            ^justo
            ^genial
            justo así
            así me gusta
            me gusta cómo
            me gusta que
            bien hecho
            muy bien
            así mismo
        """,
        Cue.CONTINUE: """
            sigue así
            sigue haciéndolo
            hazlo así
            hazlo siempre
            siempre así
            así siempre
            mantenlo así
            continúa así
            de esta forma siempre
            igual la próxima
        """,
        Cue.CORRECTION: """
            ^no
            ^así no
            ^mal
            ^otra vez
            te he dicho
            te dije
            ya te dije
            en vez de
            en lugar de
            eso no
        """,
        Cue.ROLE: """
            soy
            trabajo en
            trabajo como
            trabajo de
            llevo … años
            años de experiencia
            vengo de
            mi trabajo
            me dedico
            soy nuevo
            soy nueva
            no sé nada de
            nunca he usado
            nunca he tocado
            estudié
            principiante
            daltónico
            daltónica
            mi formación
            me encargo
            soy … de
            hago sobre todo
            mi especialidad
            nunca he programado
            no soy
            soy la
            soy el
            empecé
            acabo de empezar
            vengo del
            entiendo de
            no entiendo
            no sé nada
        """,
        Cue.PREFERENCE: """
            prefiero
            me gusta
            no me gusta
            odio
            no soporto
            me molesta
            para mí
            conmigo
            a mí
            me cuesta
            leo
            me va mejor
            tutéame
        """,
        Cue.FIRST: """
            yo
            me
            mi
            mis
            nosotros
            nosotras
            nos
            nuestro
            nuestra
            nuestros
            nuestras
            soy
            llevo
            trabajo
            vengo
            sé
        """,
        Cue.TEAM: """
            nuestro equipo
            el equipo
            mi equipo
            todo el equipo
            en el equipo
            la empresa
            toda la empresa
        """,
        Cue.DECISION: """
            hemos decidido
            decidimos
            se ha decidido
            se decidió
            está decidido
            decidido
            quedamos en
            acordamos
            hemos acordado
            nos quedamos con
            vamos con
            elegimos
            hemos elegido
            se aplaza
            aplazado
            pospuesto
            cancelado
            descartado
        """,
        Cue.COMMITMENT: """
            plazo
            fecha límite
            entrega
            lanzamiento
            lanzamos
            sale
            salimos
            publicamos
            congelación
            congelamos
            auditoría
            demo
            migración
            corte
            entra en vigor
            en vigor
            se apaga
            apagan
            caduca
            vence
            termina
            empieza
            inspección
            vacaciones
            baja
            feria
            versión
            se cierra
            cierre
            hay que entregar
            tiene que estar
            se publica
            se lanza
            empezamos
            terminamos
            firma
            visita
            reunión
            presentación
            mantenimiento
            parada
            en producción
            subimos
            sale a
            contrato
            se acaba
            se termina
            se corta
        """,
        Cue.INCIDENT: """
            caída
            se cayó
            incidente
            incidencia
            perdimos
            se perdió
            se perdieron
            corrompió
            borró
            por error
            causa
            cobrado dos veces
            duplicado
            fuga
        """,
        Cue.PLACE: """
            está en
            están en
            vive en
            viven en
            se guarda en
            se guardan en
            lo encuentras
            se encuentra
            documentado en
            en la carpeta
            el contacto
            la dirección
        """,
        Cue.OUTSIDE: """
            wiki
            panel
            tablero
            carpeta
            manual
            tickets
            canal
            hoja
            portal
            servidor
            contacto
            documentación
            registro
            unidad compartida
            jira
            grafana
        """,
        Cue.OWNER: """
            se encarga
            es responsable
            lo lleva
            la lleva
            el contacto es
            el contacto de
            pregunta a
            tiene acceso
            pregúntale
        """,
        Cue.CHANGE: """
            ahora es
            ahora son
            ya no
            en vez de
            en lugar de
            se ha movido
            se mueve
            se aplaza
            se retrasa
            se adelanta
            ha cambiado
            cambia
            cambió
            cambiado
            pasa a
            a partir de ahora
        """,
        Cue.REMEMBER: """
            recuerda
            recuerda que
            acuérdate
            ten en cuenta
            toma nota
            apunta
            apúntate
            anota
            anótalo
            guarda esto
            guárdalo
            guárdate
            no olvides
            no te olvides
            que recuerdes
            te quedes
            quédate con
            memoriza
            para que conste
        """,
        Cue.FORGET: """
            olvida
            olvídate
            olvídalo
            que olvides
            borra
            bórralo
            elimina
            quita
            deja de recordar
        """,
        Cue.NOTE: """
            nota
            notas
            memoria
            recuerdo
            apunte
            apuntado
            guardado
            guardada
            tienes sobre
            sabes de
            todo lo de
            lo de
        """,
        Cue.RETRACT: """
            olvida lo que
            olvídalo
            da igual
            déjalo
            retiro lo
            me equivoqué
            me he equivocado
            me confundí
            me he confundido
            no era
            no es verdad
            era broma
            al final no
            mejor no
            nada, nada
            no me hagas caso
        """,
        Cue.LIMITED: """
            solo esta vez
            sólo esta vez
            por esta vez
            esta vez
            solo hoy
            por hoy
            de momento
            por ahora
            por el momento
            para este
            para esta
            para esto
            temporalmente
            provisional
            esta noche
            en este pr
            en esta rama
            ahora mismo
            una excepción
            rápido y sucio
        """,
        Cue.HYPOTHETICAL: """
            supongamos
            imagina
            imaginemos
            y si
            qué pasaría
            si fuéramos
            si tuviéramos
            si algún día
            hipotéticamente
            hipotético
            en teoría
            por curiosidad
            podríamos
            sería
        """,
        Cue.HEDGE: """
            quizá
            quizás
            a lo mejor
            tal vez
            puede que
            igual
            creo que
            no sé si
            ya veremos
            me suena
            dicen que
        """,
        Cue.SARCASM: """
            qué bien, otra
            qué maravilla
            qué ilusión
            genial, otra
            genial, otro
            estupendo, otra
            mi favorito
            mi favorita
            claro que sí
            jaja
            me encanta cuando
            😂
            🙄
            🙃
        """,
        Cue.QUOTED: """
            dice que
            dijo que
            dicen
            dice él
            según
            el cliente
            un cliente
            el artículo
            el blog
            el autor
            mi jefe
            otro equipo
            escribe
            escribió
        """,
        Cue.PASTE: """
            log
            registro
            salida
            error
            correo
            mensaje
            ticket
            comentario
            texto
            página
            dice
            escribe
        """,
        Cue.QUESTION: """
            ^^qué
            ^^quién
            ^^cómo
            ^^dónde
            ^^por qué
            ^^cuándo
            ^^cuál
            ^^puedes
            ^^podemos
            ^^¿
        """,
        Cue.TASK: """
            ^^arregla
            ^^añade
            ^^cambia
            ^^quita
            ^^borra
            ^^mira
            ^^revisa
            ^^prueba
            ^^escríbeme
            ^^hazme
            ^^puedes
            ^^toma
        """,
        Cue.FILLER: """
            vale
            ok
            sí
            no
            bien
            bueno
            pues
            ojo
            ojo, que
            oye
            por cierto
            además
            y
            por favor
            gracias
            perfecto
            exacto
            recuerda
            recuerda que
            ten en cuenta que
            apunta
            toma nota
            a partir de ahora
        """,
        Cue.PAST: """
            fue
            era
            estuvo
            ayer
            anoche
            pasado
            pasada
            hace
            perdimos
            ocurrió
        """,
        Cue.OLD: """
            antiguo
            antigua
            viejo
            vieja
            anterior
        """,
        Cue.NEW: """
            nuevo
            nueva
            actual
        """,
        Cue.SECRET: """
            contraseña
            contraseñas
            clave
            claves
            token
            secreto
            credenciales
            pin
            key
        """,
        Cue.KNOWN: """
            como siempre
            como de costumbre
            ya sabes
            como la última vez
            como quedamos
        """,
        Cue.CONNECTIVE: """
            porque
            ya que
            puesto que
            si no
        """,
        Cue.ALL: """
            todo
            ambos
            ambas
            las dos
            los dos
        """,
        Cue.BACK: """
            apúntalo
            anótalo
            guárdalo
            recuérdalo
            esto vale
            eso vale
            que no se te olvide
        """,
        Cue.PRACTICE: """
            usamos
            trabajamos
            hacemos
            escribimos
            ponemos
        """,
        Cue.EXPLICIT: """
            olvida
            olvídate
            que olvides
            deja de recordar
        """,
        Cue.POINTS: """
            eso
            esto
            lo
            esa
            ese
            ahí
            allí
            ellos
        """,
        Cue.INDEFINITE: """
            apunta algo
            anota algo
            recuerda algo
            una cosa para recordar
            quiero que recuerdes algo
        """,
        Cue.CASE: """
            cuando
            si vas a
            si tocas
            si hay
            si una
            si un
            antes de
            al escribir
            al hacer
            en caso de duda
            ante la duda
        """,
        Cue.ELSEWHERE: """
            en algún sitio
            en algún lado
            en el readme
            en la documentación
            como comentario
        """,
        Cue.DECIDED: """
            hemos decidido
            decidimos
            se ha decidido
            se decidió
            está decidido
            hemos acordado
            quedamos en
            nos quedamos con
            vamos a ir con
        """,
        Cue.PREFERS: """
            prefiero
            odio
            no soporto
            me molesta
            no me gusta
            me gusta que
        """,
        Cue.PEOPLE: """
            nuestro
            nuestra
            nos
            nadie
            el equipo
            clientes
            usuarios
            la gente
            me
            auditores
        """,
    },
)
