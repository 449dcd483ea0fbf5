"""English cues: one phrase a line (how to write one: table.py)."""

from __future__ import annotations

from memdir.extract.local.cues.table import Cue, table

ENGLISH = table(
    "en",
    {
        Cue.STANDING: """
            from now on
            from here on
            going forward
            in future
            in the future, please
            for the future
            as a rule
            rule of thumb
            hard rule
            house rule
            by default
            as a default
            my default
            our default
            in general
            generally
            without exception
            no exceptions
            every single time
            whenever you
            every time you
            any time you
            anytime you
            each time you
            when you write
            when you review
            when you summari
            whenever i ask
            every time i ask
            when i ask
            for all our
            for all my
            applies to all
            applies to every
            goes for all
            goes for every
            same goes for
            same whenever
            same for all
            not just here
            not just this
            not only this
            not only here
            across the board
            in all our repos
            in every repo
            it stays that way
            keep it that way
            standing rule
            our rule
            our convention
            the convention
            our policy
            company policy
            team policy
            long term
            permanently
            for good
            next time
            the next time
            in the future
            for next time
            as a matter of
            by convention
            in principle
            without being asked
            unless i ask
            unless i say
            unless told
            for any of
            for everything
            in everything
            any time i
            whenever there
            whenever we
            whenever something
            for us it's
            not only for
            not just for
            that's a rule
            it's a rule
            is a rule
            is the rule
            golden rule
            how we do it
            how we do things
            the way we do
            always and
            standard practice
            our standard
            the standard is
            until further notice
            make it a habit
            habit
            comes up each time
            comes up every time
            since it comes up
            it comes up a lot
        """,
        Cue.DURABLE: """
            always
            never
            ever again
            every time
            each time
            any time
            whenever
            anything new
            all new
            any new
            in this repo
            in this project
            in this codebase
            around here
            usually
            normally
            nobody is allowed
            no one is allowed
            only ever
            at all times
            after each
            after every
            before each
            before every
            before any
            must not
            stays
            without asking
            until further notice
            everywhere
            for all
            in all
            on all
            each
            any of our
            forever
            ever
            not even
            every quarter
            every month
            every week
            every day
            each month
            comes up each
            every
            in here
            in this file always
        """,
        Cue.DIRECTIVE: """
            ^always
            ^never
            ^don't
            ^dont
            ^do not
            ^no more
            ^stop
            ^avoid
            ^use
            ^put
            ^write
            ^keep
            ^prefer
            ^run
            ^ask
            ^tell me
            ^show
            ^give me
            ^answer
            ^reply
            ^split
            ^squash
            ^rebase
            ^leave
            ^check
            ^commit
            ^push
            ^merge
            ^sign
            ^post
            ^tag
            ^format
            ^quote
            ^explain
            ^summari
            ^list
            ^include
            ^start with
            ^begin with
            ^end with
            ^name
            ^call
            ^treat
            ^assume
            ^make sure
            ^skip
            ^drop
            ^lead with
            ^plain
            ^short
            ^say
            ^just
            ^only
            ^please
            please don't
            please always
            please never
            please use
            please keep
            you should
            you shouldn't
            you must
            you can drop
            you can skip
            you can leave out
            you don't have to
            you don't need to
            no need to
            don't ever
            should always
            should never
            must always
            must never
            has to be
            have to be
            needs to be
            should be
            must be
            we never
            we always
            we don't
            we only
            we use
            i want you to
            i'd like you to
            i need you to
            i want
            not to be
            ask first
            ask me first
            ask me before
            ask before
            check with me
            talk to me
            answer in
            reply in
            write to me
            call me
            explain … to me
            no more
            go through
            please ask
            you can assume
            assume i
            feel free
            ^add
            ^link
            ^mention
            ^propose
            ^suggest
            ^offer
            ^wait
            ^don't touch
            ^leave … alone
            ^hands off
            hands off
            ^start
            ^stick to
            ^limit
            ^cap
            ^round
            ^spell
            ^translate
            ^be
            ^speak
            ^talk
            ^think
            ^document
            ^pin
            ^never ever
            before you
            i expect
            we expect
            we require
            is required
            are required
            must have
            needs two
            need two
            only with
            not without
            unless i ask
            unless i say
            only where
            only if
            only when
            only for
            max two
            at most
            no longer than
            please,
            in english please
            in english, please
            leave a
            leave … out
            so leave
            so use
            so keep
            so don't
            so never
            so always
            so no
            so please
            so put
            so write
            so ask
            so run
            so explain
            so skip
            then use
            then ask
            to me slowly
            explain
        """,
        Cue.REASON: """
            because
            since
            so that
            otherwise
            or else
            the reason
            reason is
            reasons
            that's why
            thats why
            due to
            thanks to
            this way
            last time
            we once
            we had
            burned us
            burnt us
            bit us
            cost us
            costs us
            cost me
            costs me
            hides
            we lost
            we learned
            complain
            complains
            complained
            breaks
            broke
            slows
            slow me down
            can't read
            can't see
            too slow
            in order to
            means that
            kills
            bitten me
            bitten us
            bites us
            more than once
            twice
            last year
            got burned
            got bitten
            legal
            customers call
            takes … weeks
            takes weeks
            wastes
            wasted
            lost … hours
            lost a day
            makes it hard
            is hard to
            hard to read
            annoys
            annoying
            that's money
            comes back as
            comes back to
            treats … as
            read … as
            is expensive
            expensive for
            cost money
            pay for
            pays for
            w/o telling
            got rejected
            rejection
            fine us
            fined
            we're liable
            liable
            chokes
            choke on
            doesn't read
            don't read
            nobody reads
            no one reads
            nobody can
            doesn't speak
            doesn't understand
            don't understand
            slip through
            slips through
            wipes
            melts
            rely on
            relies on
            took us
            asks for it
            asked for it
            depend on
            depends on
            pin versions
            links against
            link against
            too noisy
            too wide
            gets lost
            hides the
            hid a
            hid the
            makes … harder
            makes … unreadable
            makes … impossible
            matters because
            hard to review
            can't review
            reads better
            so much better
            reads so
            or we
            else it
            would break
            will break
            falls apart
            pulls in
            floods
            spams
            bc
        """,
        Cue.APPROVAL: """
            ^exactly
            ^yes exactly
            ^yes, exactly
            ^yep exactly
            ^perfect
            ^spot on
            ^love it
            ^love that
            ^love how
            ^i like that
            ^i like how
            ^i like the way
            ^great call
            ^good call
            ^nice call
            ^right call
            was the right call
            was the right choice
            was the right thing
            exactly right
            exactly that
            exactly this
            exactly how
            exactly what i
            exactly the way
            just what i
            just how i
            that's the stuff
            that's the way
            that's how
            this is how
            this is the way
            good instinct
            glad you
            i appreciate
            much better
            works well for
            works really well
            well done
            good catch
            no notes
            ^yes, this
            ^yes this
            ^this!
            this is exactly
            that's exactly
            that's what i want
            that's what we want
            that's what i wanted
            thanks for not
            thank you for not
            thanks for asking
            glad you didn't
            good that you
            you were right to
            right to
            good thinking
            smart
            brilliant
            right level
            right amount
            perfect length
            that's how we
            that's how i want
            like it like that
            like this much
            ^lovely
            ^beautiful
            ^excellent
            ^nailed it
            ^this is great
            ^that's great
            ^that's perfect
            ^great
            ^yes!
            ^yes!!
            so much nicer
            way better
            happy with
            better than what
        """,
        Cue.CONTINUE: """
            keep doing
            keep it like that
            keep it like this
            keep it up
            keep that up
            keep this up
            keep that …
            keep working like
            keep going like
            keep to that
            keep to this
            keep using
            keep writing
            keep giving
            keep the …
            do it like that
            do it like this
            do it that way
            do it this way
            do that from
            do that again
            do this again
            do more of
            more of that
            more of this
            same again
            same way next
            next time too
            like that from
            like this from
            that way from
            this way from
            stick with that
            stick with this
            stick to that
            stick to this
            carry on like
            continue like
            make that the
            make this the
            again like that
            always like that
            always like this
            more like this
            more like that
            please keep
            keep asking
            keep on
            please continue
            continue to
            next time same
            always that way
            same approach
            same style
            in that style
            this way always
            every time like
            like this in future
            this should be
            how i want it
            how we want it
            do the same
            work like that
            work like this
            would be great if you always
            stay with that
            keep to it
            keep it short like
            carry on that way
            carry on this way
            carry on doing
            go on like
            stick with that shape
            please stick with
            always do that
            always do it
            same approach whenever
            keep that shape
            keep this shape
        """,
        Cue.CORRECTION: """
            that's not how
            that's wrong
            not what i
            i told you
            told you
            you keep
            you did it again
            again you
            you shouldn't
            instead of
            rather than
            not again
            ^^don't
            ^^dont
            ^^please don't
            ^^no,
            ^^nope
            ^^nah
            ^^ugh
            ^^urgh
            ^^wrong
            ^^stop
            ^^not like that
            ^^no.
            ^^no!
            ^^hold on
            ^^wait, no
            ^^no no
            ^^not again
            ^^argh
            ^^why did you
            why did you
            please stop
            that's too
            not what we
            not our style
            we don't do that
            not how we do
            i asked
            never again
            mustn't
            i'd rather you
            next time
            ask first
            ask me first
            ask me before
            ask before
            check with me
            unless i ask
            unless i say
            without being asked
            unasked
            makes no sense
            too long
            too much
            too many
            please not
            enough with
            no need for
            what's with the
            please no more
        """,
        Cue.ROLE: """
            i'm a
            im a
            i am a
            i'm an
            i am an
            i'm the
            i am the
            i'm new to
            im new to
            i am new to
            i'm on the
            i work as
            i work on
            i work in
            i work for
            i work with
            i've worked
            i've written
            i have written
            i've been
            i have been
            i've never
            i have never
            i never learned
            i never touched
            i run the
            i lead
            i manage
            i own the
            i maintain
            i joined
            i just joined
            i moved to the
            i'm from
            i come from
            my background
            my job
            my day job
            my role
            my phd
            my degree
            my first language
            i studied
            i did my
            i teach
            i speak
            i know the
            i know my
            i barely know
            i don't know any
            years of
            for years
            for … years
            … years of
            is week two
            is new to me
            are new to me
            new to me
            first time with
            first week with
            first month
            beginner
            fluent
            expert
            colour blind
            color blind
            colourblind
            colorblind
            dyslexi
            screen reader
            i'm deaf
            i'm blind
            i'm left-handed
            by training
            by trade
            as a designer
            as a developer
            as a data
            being a
            i do mostly
            i mostly do
            my thing
            not a programmer
            not an engineer
            not a developer
            i'm no
            im no
            not a native
            i come from the
            i've only
            i only know
            know nothing about
            no clue about
            no idea about
            i've done
            coming from
            i'm used to
            im used to
            i wrote the
            i built the
            previous job
            on support
            part-time
            part time
            professor
            nurse
            accountant
            scientist
            sysadmin
            product owner
            first job
            never used
            never written
            never seen
            never done
            never had
            i'm based
            i live in
            my team is
            native speaker
            self-taught
            self taught
            i can read
            i can write
            since january
            took over
            i took over
            i'm responsible
            deaf in
            hard of hearing
            migraine
            one hand
            rsi
            braille
            i'm … engineer
            i'm … manager
            i'm … designer
            i'm … analyst
            i'm … lawyer
            i'm … teacher
            i'm … student
            i'm … developer
            im … developer
            im … engineer
            im … designer
            i'm … by trade
            my first … ever
            first time i
            first time doing
            i'm not a
            im not a
            we're a
            i'm now
            im now
            i am now
            i run those
            as the … lead
            i'm … lead
            i'm … deputy
            stand-in for
            filling in for
            i'm covering
            i mostly work
            i usually work
            i also do
            i'm in charge
            i look after
            i work mostly
            i only have one
            i came to
            i came from
            from the hardware side
            i switched from
            is a tool for me
            i've used
            i haven't used
            i haven't written
            i did … years
            used to be a
            i've been doing
            every day for
        """,
        Cue.PREFERENCE: """
            i prefer
            i'd prefer
            i'd rather
            i like
            i love
            i hate
            i dislike
            i don't like
            i dont like
            i can't stand
            i cant stand
            i can't
            i cant
            i find … easier
            i find … hard
            i read … on
            i only use
            i never use
            i always
            i never
            with me
            for me
            to me
            slow me down
            my terminal
            my editor
            my screen
            my keyboard
            my eyes
            my preference
            not a fan
            a big fan of
            allergic to
            drives me
            annoys me
            helps me
            easier for me
            everywhere for me
            for me everywhere
            bitten me
            write me
            for my part
            when you talk to me
            when you write to me
            to my taste
            i learn
            i'd like
            call me
            my timezone
            my time zone
            i read
            i skim
            i work … best
            i think in
            makes my
            hurts my
            gives me
            i'm tired of
            i get lost
            i don't want
            i dont want
            i don't need
            i never want
            i always want
            i appreciate
            suits me
            for my eyes
            when i'm
            on my phone
            on my
            i read everything
            useless for me
            useless to me
            straight to the
            i use only
            i always use
        """,
        Cue.FIRST: """
            i
            i'm
            im
            i've
            my
            me
            we
            we're
            we've
            our
            ours
            us
        """,
        Cue.TEAM: """
            our team
            my team
            the team
            the whole team
            whole … team
            our group
            our squad
            our company
            all of us
            everyone here
            everybody here
            as a team
            for the team
            we agreed
            we all
            in our team
            our side
            on behalf of
            speaking for
            us in
            we in
            we on the
            team wants
            team agreed
            our rule
            our reviewers
            our … team
            the guild
            platform team
            mobile team
            backend team
            frontend team
            data team
            security team
            ops team
            in the retro
            retro
            for us
            in our group
            we in support
            in support we
            in our company
            at our company
            in this team
        """,
        Cue.DECISION: """
            we decided
            i decided
            i've decided
            was decided
            has been decided
            is decided
            it's decided
            decision is
            decision was
            final decision
            the decision
            we agreed
            agreed with
            we settled
            settled on
            we chose
            we picked
            we're going with
            we are going with
            we went with
            going with
            it's going to be
            it is going to be
            is going to be
            we're moving
            we are moving
            we're dropping
            we're keeping
            we're staying
            we stay on
            we stay with
            we won't
            we will not
            we're not going to
            not going to
            is parked
            are parked
            is on hold
            postponed
            is off the table
            out of scope
            is cancelled
            is canceled
            was cancelled
            was canceled
            won't sign
            signed off
            gets the
            goes first
            comes first
            get moved
            gets moved
            replaces
            stays as it is
            sunset
            retire
            we ruled out
            is frozen
            approved it
            we'll go with
            we will go with
            we're going to
            we've chosen
            we have chosen
            we've decided
            we have decided
            it's official
            officially
            made the call
            the verdict
            steering
            the board
            management decided
            we keep
            we dropped
            dropped
            won't support
            will not support
            won't do
            in favour of
            in favor of
            ruled out
            rejected
            agreed to
            agreed that
            approved
            green light
            sticking with
            stick with
            staying with
            moving to
            migrating to
            move to
            the plan is
            plan is to
            not before
            only after
            by contract
            the contract
            compliance
            lawyers
            regulator
            chosen
            the outcome
            outcome:
            turned down
            pulled the plug
            picked
            the answer is no
            no-go
            non-negotiable
            not negotiable
            settled
            so it's
            for good reasons
            deliberately
            on purpose
            intentionally
            we're not
            we aren't
        """,
        Cue.COMMITMENT: """
            deadline
            due
            launch
            launches
            launching
            release
            released
            releases
            go live
            goes live
            going live
            go-live
            ship
            ships
            shipping
            freeze
            frozen
            code freeze
            audit
            demo
            review board
            migration
            cutover
            cut-over
            rollout
            roll out
            switch over
            switched off
            turned off
            shut down
            shuts down
            shutdown
            sunset
            end of life
            eol
            expires
            expire
            runs out
            renewal
            handover
            hand over
            deliver
            delivery
            pilot
            beta
            go to production
            must be done
            must be in
            has to be done
            has to be in
            has to be out
            has to be finished
            needs to be done
            needs to be in
            needs to be out
            lands
            start of
            starts
            begins
            ends
            takes effect
            in force
            on leave
            on holiday
            on vacation
            parental leave
            off until
            away until
            is back
            leaves the
            joins
            last day
            conference
            inspection
            certification
            pen test
            pentest
            election
            black friday
            tender
            train
            customer visit
            board meeting
            presentation
            parked
            sprint
            milestone
            weekly
            monthly
            without review
            goes out
            go out
            closes
            opens
            need it by
            needed by
            have until
            no merges
            nothing merges
            no deploys
            no deployments
            branch cut
            kick-off
            kickoff
            go/no-go
            store review
            submission
            submit
            the fair
            trade show
            visit
            workshop
            training
            goes away
            stops working
            end of support
            price goes up
            certificate
            maintenance window
            maintenance
            downtime
            come by
            coming
            sign-off
            signs off
            get rid of
            dies
            die
            last … day
            leaving
            leaves
            out of office
            announce
            announcement
            hearing
            exam
            lecture
            defence
            defense
            paper
            invoice
            payment
            quarter end
            reporting
            survey
            starts with
            put live
            switches
            switched
            trial
            rehearsal
            dry run
            load test
            embargo
            moved to
            moved from
            it moved
            press day
            cut-off
            cutoff
            the cut
            the review
            contract ends
            contract runs
        """,
        Cue.INCIDENT: """
            outage
            was down
            were down
            went down
            fell over
            incident
            postmortem
            post-mortem
            corrupted
            corrupts
            data loss
            lost data
            lost … orders
            lost … hours
            we lost
            deleted … by accident
            by accident
            accidentally
            double billed
            double charged
            charged twice
            billed twice
            leaked
            root cause
            the cause was
            cause:
            cause was
            broke production
            took down
            took … down
            brought down
            brought … down
            wiped
            overwrote
            paged
            page at
            never found
            locked out
            broke prod
            burned down
            it turned out
            turned out
            was caused by
            since then
            never again
            customers … for
            for … hours
            lost a
            lost the
            lost all
            duplicated
            sent … twice
            sent to the wrong
            wrong customers
            expired and
            ran out of
            ran full
            filled up
            stopped working
            hours of
            meltdown
            breach
            lost … days
            days of data
            broken for
            misrouted
            cost us
            customers … silently
        """,
        Cue.PLACE: """
            lives in
            live in
            lives on
            live on
            lives at
            live at
            lives under
            is at
            are at
            is in
            are in
            is on
            are on
            is under
            are under
            comes from
            come from
            is kept in
            are kept in
            is tracked in
            are tracked in
            tracked in
            documented in
            documented at
            is documented
            written up in
            can be found
            found in
            found at
            you find
            you'll find
            you can find
            look in
            look at
            looks first
            check the
            go to
            goes to
            go into
            goes into
            is stored in
            are stored in
            moved to
            hosted on
            hosted at
            are the
            source of truth
            posts in
            post in
            is managed in
            are managed in
            belongs in
            belongs to
            is linked
            filed in
            filed under
            kept in
            kept at
            keeps … in
            we keep
            we track
            track … in
            logged in
            listed in
            listed on
            is written
            are written
            use the
            is the place
            are on the
            the link is
            the url is
            here's where
            that's where
            where … are
            where … is
            under https
            at https
            on https
            in https
            posted in
            announced in
            ask in
            ask on
            reported in
            report in
            open a ticket
            raise a
            found on
            the truth is in
            saved in
            saved at
            located
            sits in
            sits on
            runs on
            reachable
            from there
            take them from
            get them from
            found it
        """,
        Cue.OUTSIDE: """
            dashboard
            dashboards
            wiki
            confluence
            notion
            jira
            linear
            grafana
            datadog
            sentry
            kibana
            slack
            teams channel
            channel
            board
            ticket
            tickets
            tracker
            issue tracker
            runbook
            runbooks
            playbook
            handbook
            manual
            spreadsheet
            sheet
            drive
            shared drive
            sharepoint
            figma
            mockups
            designs
            the design
            specs
            the spec
            docs
            vault
            password manager
            keychain
            1password
            mailing list
            on-call
            oncall
            rota
            calendar
            bucket
            the logs
            our logs
            portal
            registry
            glossary
            contact
            contract
            backlog
            metrics
            dataset
            reports
            feed
            archive
            notebook
            whiteboard
            roadmap
            inbox
            mailbox
            hotline
            extension
            helpdesk
            help desk
            service desk
            desk
            lab
            workspace
            templates
            template
            screenshots
            recordings
            protocols
            agenda
            standup
            contracts
            licence
            licences
            certificates
            schema registry
            feature flags
            alerts
            monitors
            sheets
            tracking
            sandbox
            status page
            build server
            artifacts
            artefacts
            the tool
            wiki page
            shared folder
            the project
            project "
            project “
            compare tool
            the server
            " box
            box,
            alias
        """,
        Cue.OWNER: """
            owns that
            owns it
            owns this
            owns the
            is the owner
            is responsible for
            is in charge of
            looks after
            maintains
            keeps it
            keeps them
            ask … first
            ask for
            go through
            has access
            have access
            the contact is
            contact person
            point of contact
            is the person
            is who
            the one to ask
            owned by
            maintained by
            managed by
            run by
            ping
            talk to
            speak to
            write to
            reach out
            belongs to
            decides on
            signs off
            the only one who
            only … can
            only … has
            only … have
            is the expert
            go to
        """,
        Cue.CHANGE: """
            moved
            it moved
            has moved
            is now
            are now
            now it's
            now we
            now lives
            not anymore
            any more
            anymore
            no longer
            instead of
            instead
            changed
            changed to
            switched
            switched to
            replaced by
            replaces
            postponed
            pushed back
            pushed to
            slipped
            brought forward
            pulled forward
            pulled in
            delayed
            extended
            renamed
            is gone
            was cancelled
            from now on
            not … but
            used to
            until now
            out of date
            outdated
            correction
            update
            became
            since last
            as of
            joined
            took over
            takes over
            left the
            is weekly
        """,
        Cue.REMEMBER: """
            ^remember
            ^also remember
            please remember
            pls remember
            plz remember
            remember that
            remember this
            remember:
            and remember
            you remember …
            to remember
            note for the future
            note for future
            note to self
            note for later
            ^note that
            please note
            make a note
            take a note
            write it down
            write that down
            write this down
            keep in mind
            keep that in mind
            keep this in mind
            bear in mind
            don't forget
            dont forget
            do not forget
            never forget
            save that
            save this
            save it to
            save to memory
            to your memory
            in your memory
            to memory
            commit to memory
            memorise
            memorize
            for your memory
            for your notes
            good to know for
            file that away
            for next time
            worth remembering
            you ought to know
            good to know
            store this
            store that
            add to memory
            add that to
            add this to your
            put that in your
            put this in your
            put it in your
            log that
            jot that
            mental note
            remember for
            remember i
            remember we
            remember my
            remember our
            take note
            note down
            note it down
            keep a note
            write down
            memory:
            note:
            nb:
            n.b.
            make sure you remember
            so you remember
            so that you remember
            please store
            please save
            save for next
            you'll need this
            you will need this
            please remember the
            you should know that
            ^remember the
            want you to keep
            want you to know
            for future sessions
            for the next session
            for all sessions
            across sessions
            in future sessions
            things to keep
            keep for later
            should know for next
        """,
        Cue.FORGET: """
            ^forget
            please forget
            pls forget
            you can forget
            can you forget
            should forget
            to forget
            and forget
            just forget
            stop remembering
            no longer remember
            don't remember
            delete that
            delete the
            delete your
            delete what
            remove that
            remove the
            remove your
            erase
            drop the
            drop that
            drop your
            throw away
            throw out
            get rid of
            wipe
            purge
            take … out of
            shouldn't keep
            don't keep
            do not keep
            clean out
        """,
        Cue.NOTE: """
            note
            notes
            memory
            memories
            remembered
            entry
            saved
            stored
            what you know about
            what i told you
            you have on
            you've got on
            you know about
            your file
            record of
        """,
        Cue.RETRACT: """
            scratch that
            scratch what
            scrap that
            scrap what
            scrap the
            strike that
            take that back
            take it back
            i take back
            forget what i said
            forget what i just
            forget that i
            forget i said
            forget i asked
            forget it
            ^forget that
            forget both
            forget the rule
            ignore what i said
            ignore what i just
            ignore that
            ignore my last
            disregard
            never mind
            nevermind
            nvm
            i was wrong
            i misremembered
            i mixed up
            i mixed that up
            i'm confusing
            i confused
            i misread
            i misspoke
            my mistake
            my bad
            that was wrong
            that's not true
            not true after all
            turns out … wrong
            turns out … not
            turns out … isn't
            turns out … didn't
            wrong repo
            wrong project
            wrong team
            wrong channel
            wrong window
            changed my mind
            on second thought
            actually no
            actually, no
            actually not
            was only joking
            i was joking
            just kidding
            false alarm
            belay that
            undo that
            ^^ignore$
            a different thing
            something else entirely
            there is no date
            there's no date
            no date yet
            no date for
            there already
            already there
            already in the
            it's already in
            they're already in
            already documented
            already says
            not us
            was for another
            was about another
            belongs to another
            forget all that
            forget i mentioned
            so no
            that's off
            not happening
            not … after all
            withdrawn
            doesn't apply
            does not apply
            no longer applies
        """,
        Cue.LIMITED: """
            just this once
            only this once
            this once
            just once
            for once
            one-off
            one off
            this one time
            just for now
            for now
            for the moment
            for the time being
            just now
            for today
            today only
            only today
            for this
            in this pr
            in this branch
            in this file
            in this script
            in this one
            on this one
            for these
            this time
            this one
            this week only
            next few minutes
            temporarily
            temporary
            throwaway
            throw-away
            quick and dirty
            quick hack
            as an exception
            exceptionally
            while you're at it
            while we're at it
            until i'm back
            until i say
            until we're done
            until this is
            until it's merged
            until it works
            just here
            only here
            for the talk
            for the slides
            for the screenshot
            for the workshop
            in this case
            in this session
            this session
            the rest of the
            today's
            for the spike
            for the prototype
            for debugging
            while i debug
            while debugging
            on staging only
            for this ticket
            for this task
            for this release
            this sprint
            only in this
            for now only
            in this thread
            for this review
            just for this
            just for the
            only for this
            for the next hour
            until lunch
            for my talk
            for a screenshot
            for a quick
            for that one
            in that one
            in this test
            this commit
            in this commit
            this message
            this email
            this mail
            this letter
            this doc
            this slide
            this time only
            only now
            this once only
            first draft
            for the draft
            just today
            this afternoon
            this evening
            as a stopgap
            stopgap
            prototype
            hackathon
            poc
            for fun
            this experiment
            let's try
            lets try
            for the time of
            until tomorrow
            until tonight
            just until
            only until
            for the next few
            for the next couple
            for the next ten
            for the next five
            for the next two hours
            for the next half
            yet
            before you commit
            just want to
        """,
        Cue.HYPOTHETICAL: """
            suppose
            supposing
            imagine
            hypothetically
            hypothetical
            thought experiment
            what if
            if we were
            if i were
            if you were
            if we had
            if we ever
            if i ever
            if we did
            if it were
            if there were
            say we
            say i
            let's say
            lets say
            let's pretend
            pretend
            would you
            would we
            would be nice
            we'd have
            we'd need
            could we
            should we
            in theory
            in an ideal world
            dream of
            one day
            some day
            someday
            playing with the idea
            toying with
            just thinking
            thinking out loud
            just curious
            for the sake of argument
            imagine we
            imagine i
            how would you
            if we moved
            if we switched
            if we used
            if we went
            if i wanted
            if we wanted
            say a
            for example if
            assume for
            let's assume
            lets assume
            be nice to
            wouldn't it
            if money
            wild idea
            crazy idea
            if it was up to me
            if it were up to me
            in another life
            just asking
            asking for a friend
            out of curiosity
            academic question
            thought experiments
        """,
        Cue.HEDGE: """
            maybe
            perhaps
            might
            possibly
            probably
            not sure
            not sure yet
            i think
            i guess
            i wonder
            wondering
            considering
            thinking about
            thinking of
            no idea
            don't know yet
            tbd
            undecided
            nothing is decided
            not decided
            no decision
            we'll see
            if at all
            could be
            may have
            i heard
            rumour
            rumor
            apparently
        """,
        Cue.SARCASM: """
            oh great
            oh wonderful
            oh lovely
            oh joy
            oh perfect
            oh good
            oh fantastic
            oh brilliant
            oh sure
            yeah right
            yeah sure
            sure, because
            sure because
            yay
            how lovely
            how wonderful
            just great
            just what i needed
            just lovely
            just wonderful
            wonderful, another
            great, another
            great, now
            thanks, computer
            my favourite
            my favorite
            my new favourite
            my new favorite
            i love it when
            love it when
            i love when
            i just love
            i so love
            i absolutely love
            who needs
            because who
            because that worked so well
            what could go wrong
            what could possibly
            obviously the best
            clearly the best
            i vote for
            let's all
            in comic sans
            /s
            /sarcasm
            🙄
            😌
            🙃
            😏
            🤡
            not at all annoying
            a masterpiece
            peak engineering
            chef's kiss
            slow clap
            bravo
            ah yes
            ah, yes
            because of course
            lucky me
            lucky us
            how nice
            how helpful
            thanks a bunch
            what a joy
            what a treat
            what a surprise
            surprise surprise
            best idea ever
            best day ever
            genius
            pure genius
            let's just
            why not just
            why don't we just
            might as well just
            next time just
            from now on we'll just
            from now on let's
            can't wait
            funny how
            hilarious
            how fun
            what fun
            so fun
            i live for
            makes my day
            made my day
            great success
            mission accomplished
            congratulations
            applause
            absolutely nobody
            nobody asked
            said no one
            said nobody
            in rust, obviously
            /j
            jk
            🙃🙃
            💀
            👏
        """,
        Cue.QUOTED: """
            he says
            she says
            they say
            he said
            she said
            they said
            says we
            says you
            says that
            says i
            said we should
            said to
            says to
            told me to
            tells me to
            wants me to
            asks me to
            asked me to
            according to
            the blog
            blog post
            the article
            the author
            the docs say
            the readme says
            the doc says
            the page says
            the guide says
            the style guide
            review comment
            the ticket says
            the mail says
            their rule
            their policy
            his rule
            her rule
            his opinion
            her opinion
            in the video
            the talk says
            the other team
            another team
            different team
            a customer
            customer says
            the vendor
            somebody on
            someone on
            people say
            some people
            my boss thinks
            quoting
            he wants
            she wants
            he thinks
            she thinks
            they think
            he insists
            she insists
            they insist
            insists
            recommends
            suggested
            suggests
            heard that
            i read that
            reddit
            hacker news
            stack overflow
            linkedin
            twitter
            the internet
            podcast
            the book
            ex-colleague
            my old team
            my old company
            at my old
            at my last
            my former
            in my old
            the other guys
            marketing wants
            from the other
        """,
        Cue.PASTE: """
            log
            logs
            output
            error
            errors
            trace
            traceback
            stack trace
            stacktrace
            mail
            email
            e-mail
            message
            letter
            page
            comment
            transcript
            ticket
            paragraph
            post
            text
            snippet
            reference
            this says
            reads
            wrote
            writes
            says
            the diff
            the readme
            the spec
            quote
            paste
            pasting
            pasted
        """,
        Cue.QUESTION: """
            ^^who
            ^^what
            ^^what's
            ^^whats
            ^^when's
            ^^where
            ^^where's
            ^^wheres
            ^^why
            ^^why's
            ^^how
            ^^how's
            ^^which
            ^^can you
            ^^can we
            ^^can i
            ^^could you
            ^^would you
            ^^will you
            ^^do you
            ^^do we
            ^^does
            ^^did
            ^^is it
            ^^is there
            ^^is the
            ^^is that
            ^^is this
            ^^are you
            ^^are we
            ^^are the
            ^^are there
            ^^should i
            ^^should we
            ^^has
            ^^have you
            ^^shall
            ^^any idea
            ^^remind me
            ^^shouldn't
            ^^isn't
            ^^aren't
            ^^doesn't
            ^^don't we
            ^^don't you
            ^^wouldn't
            ^^couldn't
            ^^can't we
            ^^didn't
            ^^wasn't
            ^^was it
            ^^was that
            ^^were
            ^^am i
            ^^do i
            ^^will
            ^^would
            ^^could
            ^^can
            ^^isnt
            ^^whos
            ^^who's
            ^^hows
        """,
        Cue.TASK: """
            ^^fix
            ^^add
            ^^change
            ^^rename
            ^^delete
            ^^remove
            ^^move
            ^^revert
            ^^update
            ^^bump
            ^^try
            ^^merge
            ^^commit
            ^^push
            ^^run
            ^^make it
            ^^make the
            ^^make them
            ^^do it
            ^^do that
            ^^do the
            ^^go ahead
            ^^go
            ^^set
            ^^look at
            ^^check
            ^^read
            ^^open
            ^^find
            ^^implement
            ^^build
            ^^draft
            ^^translate
            ^^rewrite
            ^^refactor
            ^^write a
            ^^write me
            ^^write the
            ^^show me
            ^^give me
            ^^tell me
            ^^review
            ^^summarise the
            ^^summarize the
            ^^explain
            ^^replace
            ^^rerun
            ^^test
            ^^apply
            ^^leave it
            ^^let's
            ^^lets
            ^^please fix
            ^^please add
            ^^now
            ^^can you
            ^^could you
            just swap
            change the … pls
            change the … please
            i need help
            need help
            help me
            please$
            pls$
            plz$
            ^make them the same
            ^make these
            ^make those
        """,
        Cue.FILLER: """
            ok
            okay
            yes
            yeah
            yep
            no
            nope
            nah
            so
            and
            but
            also
            oh
            ah
            hm
            hmm
            ugh
            urgh
            well
            btw
            by the way
            fyi
            please
            pls
            plz
            thanks
            thx
            ty
            good
            great
            cool
            nice
            right
            wait
            actually
            anyway
            anyways
            one thing
            one more thing
            before i forget
            remember
            remember that
            remember this
            please remember
            pls remember
            please remember that
            pls remember that
            note that
            please note
            please note that
            keep in mind
            keep in mind that
            don't forget
            don't forget that
            from now on
            from here on
            going forward
            in future
            exactly
            exactly that
            exactly this
            perfect
            then
            now
            look
            listen
            sorry
            i mean
            as i said
            like i said
            for the record
            just so you know
            heads up
            ok so
            yeah so
            ah and
            oh and
            and also
            another thing
            one last thing
            quick one
            last thing
            for context
            context
            so from now on
            before we start
            before you start
            honestly
            yes please
            please do
            lovely
            brilliant
            sure
            got it
            morning
            hi
            hey
            hello
            fair enough
            lol
            haha
            you know
            mind you
            that said
            having said that
            alright
            excellent
            uhh
            uh
            um
            erm
            ehm
        """,
        Cue.PAST: """
            was
            were
            had
            happened
            ago
            last
            yesterday
            did
            lost
            broke
            went
            took
            found
            corrupted
            crashed
            failed
            got
        """,
        Cue.OLD: """
            old
            former
            previous
            legacy
            outdated
        """,
        Cue.NEW: """
            new
            current
        """,
        Cue.SECRET: """
            password
            passwords
            passphrase
            pw
            pwd
            secret
            secrets
            token
            tokens
            api key
            key
            keys
            credential
            credentials
            pin
            login
            passcode
            new one is
            the code is
        """,
        Cue.KNOWN: """
            as always
            as usual
            like always
            as ever
            like last time
            same as last time
            you know the
            you know why
            as you know
            as agreed
            as we agreed
            you already know
            you remember
            as i said before
            per usual
            the usual
        """,
        Cue.CONNECTIVE: """
            because
            since
            otherwise
            so that
            as otherwise
            that way
        """,
        Cue.ALL: """
            both
            all of
            everything
            all that
            any of
            whole thing
            all rules
        """,
        Cue.BACK: """
            save that
            remember that so
            remember this so
            remember that,
            remember that.
            remember this,
            remember this.
            keep that in mind
            keep this in mind
            write that down
            write this down
            note that down
            make a note of that
            commit that to memory
            remember it
            so remember
            this is a
            that's a
            that is a
            this applies
            that applies
            that goes for
            this goes for
            same goes
            keep that
            keep it that way
            keep it like that
        """,
        Cue.PRACTICE: """
            we do
            we use
            we write
            we name
            we keep
            we run
            we review
            we merge
            we deploy
            we ship
            we test
            we put
            we work
            we go by
            we stick to
            we follow
            we don't
            we never
            we always
            live max
            only what you
            everyone's annoyed
            everyone is annoyed
            everybody hates
            everyone hates
            nobody wants
            nobody likes
            we require
            we expect
            our branches
            our commits
            our prs
            our tests
            prs need
            need two approvals
            two approvals
            everyone here
            we only
            we prefer
            we want
            we call
            we say
            we tag
            we squash
            we rebase
            we pair
            we freeze
            we release
            we commit
            we format
            we log
            we store
            we version
            we count
            we measure
            we deploy on
            no friday
            has to have
            must carry
            must contain
            must include
            has to include
            goes through
            at least two
            at least one
            max
            at most
        """,
        Cue.EXPLICIT: """
            ^forget about
            ^forget everything
            ^forget the
            ^forget my
            ^forget our
            ^forget all
            please forget
            pls forget
            you can forget
            can you forget
            you should forget
            stop remembering
            no longer remember
            don't remember … any
            forget that we
            forget that our
            forget that my
            forget where
            forget who
            forget which
        """,
        Cue.POINTS: """
            that
            this
            it
            that one
            this one
            those
            these
            them
            there
            they
        """,
        Cue.INDEFINITE: """
            remember something
            remember one thing
            remember a thing
            note something
            one thing to remember
            something to remember
            things to remember
            a few things to remember
        """,
        Cue.CASE: """
            when you
            when a
            when an
            when there
            when it's
            when its
            when i say
            when i'm
            if you start
            if you write
            if you add
            if you need
            if you touch
            if you see
            if you have
            if you find
            if you ever
            if you're not
            if you are
            if you want
            if you build
            if you change
            if a
            if an
            if it's a
            if i say
            if i ask
            if something
            if somebody
            if anyone
            if there's
            if there is
            once a
            as soon as
            whatever you
            anything you
            anything that
            anything with
            wherever
            before you
            after you
            unless
            for prs
            for tests
            for migrations
            for commits
            for reviews
            for new
            in tests
            in commit messages
            in code review
            in prs
            in docs
            in the docs
            in our docs
            in logs
            where possible
            when possible
            when in doubt
            if in doubt
            if unsure
            when unsure
        """,
        Cue.ELSEWHERE: """
            somewhere
            in the readme
            to the readme
            in a comment
            as a comment
            in the changelog
            in the docs
            to the docs
            in the ticket
            in the commit message
            in the pr
            in contributing
            in the wiki
            in the code
            in the file
            to the file
            in the workflow
            in a todo
            as a todo
        """,
        Cue.DECIDED: """
            we decided
            we've decided
            we have decided
            i decided
            i've decided
            was decided
            has been decided
            it's decided
            it is decided
            final decision
            the decision is
            decision is
            decision:
            decided:
            we agreed
            we've agreed
            we settled on
            we chose
            we've chosen
            it's official
            steering decided
            management decided
            board decided
            the board decided
            team decided
            it's going to be
            is going to be
            we're going with
            we are going with
            we'll go with
            we're staying with
            we're sticking with
            we're dropping
            the call was
            made the call
            we ruled out
            ruled out
            is parked
            is off the table
            legal wants
            legal says
            legal said
            legal requires
            legal insists
            the contract says
            compliance wants
            compliance requires
            security wants
            security requires
            management wants
            the regulator wants
            we are dropping
            we agreed with
            agreed internally
            sales confirmed
            we decided to
            the client wants
            procurement
        """,
        Cue.PREFERS: """
            i prefer
            i'd rather
            i would rather
            i hate
            i can't stand
            i cant stand
            i really dislike
            i read everything
            i like my
            i like to
            i don't like
            i dont like
            i never want
            i always want
            i want my
            useless for me
            useless to me
            i find … easier
            i find … hard
            drives me
            slow me down
            slows me down
            confuses me
            annoys me
        """,
        Cue.PEOPLE: """
            our
            nobody
            no one
            people
            everyone
            everybody
            half of
            the team
            customers
            users
            partners
            reviewers
            auditors
            lawyers
            legal
            security
            support
            sales
            ops
            the board
            readers
            they
            us
            me
            him
            her
            someone
            somebody
            colleagues
            the other team
        """,
    },
)
