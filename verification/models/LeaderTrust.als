/*
 * A leader role, or a shard of one (LeaderShards has who leads which): nobody believes to lead while another one does, although
 * nobody can see what happens to the others. Time goes in steps of one. A leader asks the server, and trusts its answer for a
 * window that is counted from the question: between that the answer is given and that it is heard, the server may give the lock to
 * somebody else.
 *
 * take      leader.Elector.campaign, leader.LeaderRole.count
 *           PostgresLeaderElectionTests.leaderWhoseSessionEndsIsReplacedAfterItsTrustWindow
 * ask       leader.LeaderRole.waitForPreviousLeader, jdbc.SessionUpkeep.beat
 *           PostgresLeaderElectionTests.leaderThatWasInDoubtGoesOnWhenItsLockIsConfirmed
 * elect     environment
 *           PostgresLeaderElectionTests.leaderThatWasSilentAnnouncesItselfBeforeItBelievesAgain
 * confirm   environment
 *           PostgresLeaderElectionTests.leaderThatWasInDoubtGoesOnWhenItsLockIsConfirmed
 * hear      jdbc.ConnectionOwner.ask, leader.CurrentTerm.begin
 *           LockSessionTests.whatTheServerConfirmsIsTrustedFromTheQuestionOn
 * free      environment
 *           PostgresLeaderElectionTests.leaderBehindAFrozenNetworkStopsBelievingBeforeAnotherBegins
 * follow    leader.LeaderRole.follow
 *           PostgresLeaderElectionTests.leaderWhoseSessionEndsIsReplacedAfterItsTrustWindow
 * resign    leader.LeaderRole.handOver
 *           PostgresLeaderElectionTests.leaderThatStopsSaysSoBeforeItReleasesItsLock
 * withdraw  leader.LeaderRole.handOver
 *           PostgresLeaderElectionTests.candidateThatStopsWhileItWaitsDoesNotVouchForItsPredecessor
 * release   leader.LeaderRole.giveBack
 *           PostgresLeaderElectionTests.resignationHandsOverAtOnceAndTermsRise
 * pass      leader.CurrentTerm.endIfOver, leader.LeaderRole.watchTerm
 *           PostgresLeaderElectionTests.leaderBehindAFrozenNetworkStopsBelievingBeforeAnotherBegins
 */
module LeaderTrust

-- Steps that are left of a window; none when it is over
abstract sig Left {}
one sig Two, One extends Left {}

sig Instance {
	-- of a window that is counted from its open question
	var question: lone Left,
	-- of one that it trusts the last answer for
	var trust: lone Left,
	-- of one that it waits for, as the leader before may still believe
	var wait: lone Left
}

-- Who has an open question, and for whom an answer is on its way
var sig Asks, Answered in Instance {}

-- Whose session has the lock at the server
var lone sig Holder in Instance {}

-- Who has got the lock and does not lead yet, and who believes to lead. Each may have lost the lock and not know
var sig Waits, Leads in Instance {}

one sig Server {}

-- Whether a leader has announced that it has stopped, and nobody was elected since
var lone sig Announced in Server {}

-- The mutants: a leader begins at once; trusts from the answer on; announces before it stops; who only waited announces
abstract sig Mutant {}
lone sig WithoutWaiting, TrustsFromAnswer, AnnouncesFirst, Vouches extends Mutant {}

fact init {
	no Holder + Leads + Waits + Asks + Answered
	no question + trust + wait
}

pred sameTimes {
	question' = question
	trust' = trust
	wait' = wait
}

-- The lock of the role is free. Who takes it does not know for how long the one before trusts
pred take [i: Instance] {
	no Holder
	i not in Leads + Waits
	Holder' = i
	Waits' = Waits + i
	wait' = wait + (some Announced + WithoutWaiting => none->none else i->Two)
	question' = question
	trust' = trust
	Leads' = Leads
	Asks' = Asks
	Answered' = Answered
	Announced' = Announced
}

-- Who has waited announces its election, and who leads wants to know whether it still does
pred ask [i: Instance] {
	i in Leads + Waits
	i not in Asks
	no i.wait
	question' = question + i->Two
	trust' = trust
	wait' = wait
	Asks' = Asks + i
	Answered' = Answered
	Holder' = Holder
	Waits' = Waits
	Leads' = Leads
	Announced' = Announced
}

pred replies [i: Instance] {
	i in Asks & Holder
	i not in Answered
	Answered' = Answered + i
	Asks' = Asks
	Holder' = Holder
	Waits' = Waits
	Leads' = Leads
	sameTimes
}

-- The server has published the election, to all who listen
pred elect [i: Instance] {
	i in Waits
	replies[i]
	Announced' = none
}

-- The server has answered a leader whose session has the lock
pred confirm [i: Instance] {
	i in Leads
	replies[i]
	Announced' = Announced
}

-- The answer comes to who has asked, sooner or later, whatever has happened at the server meanwhile
pred hear [i: Instance] {
	i in Answered
	let left = (some TrustsFromAnswer => Two else i.question) {
		trust' = trust - i->Left + i->left
		Leads' = Leads + (some left => i else none)
		Waits' = Waits - (some left => i else none)
	}
	question' = question - i->Left
	wait' = wait
	Asks' = Asks - i
	Answered' = Answered - i
	Holder' = Holder
	Announced' = Announced
}

-- The server takes a client for dead, for instance because the network is cut. The client does not know
pred free [i: Instance] {
	i in Holder
	Holder' = Holder - i
	Waits' = Waits
	Leads' = Leads
	Asks' = Asks
	Answered' = Answered
	Announced' = Announced
	sameTimes
}

pred forgets [i: Instance] {
	question' = question - i->Left
	wait' = wait - i->Left
	Asks' = Asks - i
	Answered' = Answered - i
	Waits' = Waits - i
}

-- The client learns that its session has ended
pred follow [i: Instance] {
	i in Waits + Leads - Holder
	forgets[i]
	trust' = trust - i->Left
	Leads' = Leads - i
	Holder' = Holder
	Announced' = Announced
}

-- In order: stops to believe first, then announces it. The lock is still held
pred resign [i: Instance] {
	i in Leads & Holder
	forgets[i]
	trust' = (some AnnouncesFirst => trust else trust - i->Left)
	Leads' = (some AnnouncesFirst => Leads else Leads - i)
	Holder' = Holder
	Announced' = Server
}

-- Who only waited knows nothing of who led before
pred withdraw [i: Instance] {
	i in Waits & Holder
	forgets[i]
	trust' = trust
	Leads' = Leads
	Holder' = Holder
	Announced' = (some Vouches => Server else Announced)
}

-- After it has resigned or withdrawn
pred release [i: Instance] {
	i in Holder - Waits
	i not in Leads or some AnnouncesFirst
	Holder' = Holder - i
	Waits' = Waits
	Leads' = Leads
	Asks' = Asks
	Answered' = Answered
	Announced' = Announced
	sameTimes
}

-- The clock goes on. Who is at the end of its trust stops, and has to announce itself again
pred pass {
	let next = Two->One, over = Leads - trust.Two {
		trust' = trust.next
		wait' = wait.next
		question' = (question - over->Left).next
		Asks' = Asks - over
		Answered' = Answered - over
		Leads' = Leads - over
		Waits' = Waits + over
	}
	Holder' = Holder
	Announced' = Announced
}

pred rest {
	Asks' = Asks
	Answered' = Answered
	Holder' = Holder
	Waits' = Waits
	Leads' = Leads
	Announced' = Announced
	sameTimes
}

fact behaviour {
	always (rest or pass or some i: Instance | take[i] or ask[i] or elect[i] or confirm[i] or hear[i] or free[i] or follow[i]
		or resign[i] or withdraw[i] or release[i])
}

assert oneLeader {
	always lone Leads
}

-- Who resigns is followed at once, without the clock going on
pred handedOver {
	some disj a, b: Instance |
		eventually (resign[a] and after (release[a] and after (take[b] and after (ask[b] and after (elect[b] and after
			hear[b])))))
}

-- Who vanishes is followed when it has stopped to believe, without knowing why
pred replaced {
	some disj a, b: Instance |
		eventually (free[a] and a in Leads and eventually (hear[b] and b in Waits and after (b in Leads and a in Waits)))
}

check oneLeader for exactly 3 Instance, 0 Mutant, 13 .. 13 steps expect 0
check oneLeader for exactly 3 Instance, 1 Mutant, exactly 1 WithoutWaiting, 12 steps expect 1
check oneLeader for exactly 3 Instance, 1 Mutant, exactly 1 TrustsFromAnswer, 13 steps expect 1
check oneLeader for exactly 3 Instance, 1 Mutant, exactly 1 AnnouncesFirst, 12 steps expect 1
check oneLeader for exactly 3 Instance, 1 Mutant, exactly 1 Vouches, 13 steps expect 1
run handedOver for exactly 3 Instance, 0 Mutant, 13 steps expect 1
run replaced for exactly 3 Instance, 0 Mutant, 13 steps expect 1
