/*
 * A leader role: nobody believes to lead while another one does, although nobody can see what happens to the others.
 * Time goes in steps of one; a leader trusts an answer of the server for a window, counted from its question.
 *
 * answer    jdbc.LockSession.confirmedNanos, trustLeft                LeaderReplacementTests
 * free      the server ends a session that it takes for dead         PostgresLeaderElectionTests
 * take      leader.Elector.campaign: the lock of the role             PostgresLeaderElectionTests
 * lead      leader.Predecessor: after the waiting time                LeaderReplacementTests
 * resign    leader.LeaderRole: stops to believe, then announces       LeaderHandoverTests
 * pass      the clock goes on; who is at the end of its trust stops   LeaderReplacementTests
 */
module LeaderTrust

sig Instance {
	-- steps for which it still trusts the last answer
	var trust: Int
}

-- Whose session has the lock at the server
var lone sig Holder in Instance {}

-- Who believes to lead
var sig Leads in Instance {}

-- Who has the lock and waits, and how long still
var lone sig Waits in Instance {}

one sig Clock {
	var wait: Int
}

-- Whether the leader before has announced that it has stopped
var lone sig Announced in Clock {}

one sig Rules {}
-- The mutants: a leader begins at once; a leader announces before it stops
lone sig WithoutWaiting in Rules {}
lone sig AnnouncesFirst in Rules {}

let window = 2

fact init {
	no Holder + Leads + Waits
	no Announced
	all i: Instance | i.trust = 0
	Clock.wait = 0
}

pred same [] {
	Announced' = Announced
}

-- The server has answered a question of the session that has the lock; the question was sent now
pred answer [i: Instance] {
	i in Holder
	trust' = trust ++ i->window
	Holder' = Holder
	Leads' = Leads
	Waits' = Waits
	wait' = wait
	same
}

-- The server takes a client for dead, for instance because the network is cut. The client does not know
pred free [i: Instance] {
	i in Holder
	Holder' = Holder - i
	trust' = trust
	Leads' = Leads
	Waits' = Waits - i
	wait' = wait
	same
}

-- The lock of the role is free. Who takes it does not know for how long the one before trusts
pred take [i: Instance] {
	no Holder
	i not in Leads
	no Waits
	Holder' = i
	Waits' = i
	trust' = trust ++ i->window
	(some WithoutWaiting or some Announced) => wait' = Clock->0 else wait' = Clock->window
	Announced' = none
	Leads' = Leads
}

pred lead [i: Instance] {
	i in Waits
	i in Holder
	Clock.wait = 0
	i.trust > 0
	Leads' = Leads + i
	Waits' = Waits - i
	Holder' = Holder
	trust' = trust
	wait' = wait
	same
}

-- In order: stops to believe first, announces with the release of the lock
pred resign [i: Instance] {
	i in Leads & Holder
	no AnnouncesFirst
	Leads' = Leads - i
	Holder' = Holder - i
	Announced' = Clock
	trust' = trust ++ i->0
	Waits' = Waits
	wait' = wait
}

-- The mutant's way: the lock is free and announced, and the work goes on until somebody stops it
pred resignEarly [i: Instance] {
	i in Leads & Holder
	some AnnouncesFirst
	Holder' = Holder - i
	Announced' = Clock
	Leads' = Leads
	trust' = trust
	Waits' = Waits
	wait' = wait
}

pred pass {
	trust' = { i: Instance, n: Int | n = (i.trust > 0 => minus[i.trust, 1] else 0) }
	wait' = { c: Clock, n: Int | n = (c.wait > 0 => minus[c.wait, 1] else 0) }
	Leads' = Leads & { i: Instance | i.trust > 1 }
	Holder' = Holder
	Waits' = Waits
	same
}

fact behaviour {
	always (pass or some i: Instance | answer[i] or free[i] or take[i] or lead[i] or resign[i] or resignEarly[i])
}

pred asWritten {
	no WithoutWaiting
	no AnnouncesFirst
}

assert oneLeader {
	asWritten implies always lone Leads
}

assert oneLeaderWithoutWaiting {
	(some WithoutWaiting and no AnnouncesFirst) implies always lone Leads
}

assert oneLeaderThatAnnouncesFirst {
	(no WithoutWaiting and some AnnouncesFirst) implies always lone Leads
}

-- Who resigns is followed at once, without the clock going on
pred handedOver {
	asWritten
	some disj a, b: Instance |
		eventually (resign[a] and after (take[b] and after (lead[b] and after eventually (free[b] and eventually lead[a]))))
}

check oneLeader for exactly 3 Instance, 3 Int, 1 Rules, 12 steps expect 0
check oneLeaderWithoutWaiting for exactly 3 Instance, 3 Int, 1 Rules, 12 steps expect 1
check oneLeaderThatAnnouncesFirst for exactly 3 Instance, 3 Int, 1 Rules, 12 steps expect 1
run handedOver for exactly 3 Instance, 3 Int, 1 Rules, 14 steps expect 1
