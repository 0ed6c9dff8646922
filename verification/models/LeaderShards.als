/*
 * A role that is led in shards. Each shard is a role as in LeaderTrust; here is who leads which of them, while instances join, stop
 * and vanish, and resign shards. Nobody talks about it: who runs for the role counts those who do, takes free shards up to its share,
 * and gives up what is above it between two calls. A step of the clock is longer than anybody trusts, and between two looks of anybody: before
 * it goes on everybody has done what is due.
 *
 * join     leader.PostgresLeaderElection.divide, jdbc.Members.share
 *          ShardsTests.instancesShareTheShardsAndMoveNoMoreThanTheyMust
 * count    leader.Shards.share, jdbc.Members.counted
 *          ShardsTests.instancesShareTheShardsAndMoveNoMoreThanTheyMust, ShardsTests.memberThatDoesNotRunForTheRoleHasNoShareInIt
 * take     leader.Shards.leftToOthers, leader.Elector.campaign, leader.LeaderRole.count
 *          ShardsTests.instancesShareTheShardsAndMoveNoMoreThanTheyMust
 * lead     leader.LeaderRole.waitForPreviousLeader, leader.Leadership.begin
 *          PostgresLeaderElectionTests.leaderWhoseSessionEndsIsReplacedAfterItsTrustWindow
 * begin    leader.Leadership.beginWork
 *          ShardsTests.methodIsCalledForEachShardInOrderAndAFailingOneDoesNotKeepOthersFromTheirs
 * end      leader.ActiveCalls.end
 *          ShardsTests.shardIsNotGivenUpWhileItsCallIsRunning
 * giveUp   leader.Leadership.giveUp, leader.LeaderRole.handOver
 *          ShardsTests.shardIsNotGivenUpWhileItsCallIsRunning
 * stop     leader.Leadership.stop, leader.LeaderRole.handOver
 *          ShardsTests.instanceThatResignsOrEndsItsElectionsHasItsShardsLedByOthersAtOnce
 * resign   leader.Leadership.resign, leader.LeaderRole.handOver, leader.Shards.share
 *          ShardsTests.instanceThatResignsOrEndsItsElectionsHasItsShardsLedByOthersAtOnce
 * rerun    leader.LeaderRole.runForLock
 *          ShardsTests.instanceThatResignsOrEndsItsElectionsHasItsShardsLedByOthersAtOnce
 * vanish   environment
 *          ShardsTests.shardsOfAVanishedMemberAreLedAgainWithinTheBoundOfLeaders
 * pass     leader.CurrentTerm.endIfOver, leader.Elector.watch
 *          ShardsTests.shardsOfAVanishedMemberAreLedAgainWithinTheBoundOfLeaders
 */
module LeaderShards

sig Instance {
	-- the others that it has counted
	var others: set Instance
}

-- Those that run for the role; any member may be none of them
sig Candidate in Instance {}

sig Shard {
	-- whose session has the lock at the server
	var holder: lone Instance,
	-- who believes to lead it
	var leads: set Instance,
	-- where a call for it is running
	var works: set Instance,
	-- who has resigned it, and leaves it to others for a time
	var away: set Instance
}

-- Whose session is open
var sig Member in Instance {}

-- Shards whose last leader has said that it leads no more, those whose holder waits for a leader it knows nothing of, and those
-- that nobody led when the clock went on the last time, though nothing has happened to anybody since
var sig Announced, Waiting, Unled in Shard {}

-- The mutants: who takes a shard begins at once; waits also for who has said that it leads no more; a shard is given up in mid-call;
-- a count stays as it was; all members are counted, whether or not they run for the role; those that have resigned a shard are, too
abstract sig Mutant {}
lone sig WithoutWaiting, WaitsAlways, InMidCall, CountsOnce, CountsAll, CountsResigned extends Mutant {}

fun running: set Instance {
	Member & Candidate
}

-- Those that say so
fun counted: set Instance {
	running - (some CountsResigned => none else Shard.away)
}

fun toCount [i: Instance]: set Instance {
	(some CountsAll => Member else counted) - i
}

fun held [i: Instance]: set Shard {
	holder.i
}

fun sharing [i: Instance, known: set Instance]: set Instance {
	known + (i & counted)
}

-- A share of three shards is three, two or one
pred hasRoom [i: Instance, known: set Instance] {
	lone sharing[i, known] or no held[i] or (sharing[i, known] != Instance and lone held[i])
}

pred isAbove [i: Instance, known: set Instance] {
	not lone sharing[i, known] and (held[i] = Shard or (sharing[i, known] = Instance and not lone held[i]))
}

fact init {
	all i: Instance | others[i] = (i in running => toCount[i] else none)
	Shard.holder in running
	leads = holder
	no works + away
	no Announced + Waiting + Unled
}

pred sameMembers {
	Member' = Member
	others' = others
}

pred sameShards {
	holder' = holder
	leads' = leads
	Announced' = Announced
	Waiting' = Waiting
	away' = away
}

pred sameWork {
	works' = works
	Unled' = Unled
}

-- The first answer of the server tells how many there are
pred join [i: Instance] {
	i not in Member
	i not in Shard.leads
	Member' = Member + i
	others' = others - i->Instance + i->(i in Candidate => toCount[i] else none)
	sameShards
	works' = works
	no Unled'
}

-- With a heartbeat, and with each look
pred count [i: Instance] {
	i in running
	no CountsOnce
	others' = others - i->Instance + i->toCount[i]
	Member' = Member
	sameShards
	sameWork
}

pred take [i: Instance, s: Shard] {
	i in running
	no s.holder
	i not in s.away
	hasRoom[i, i.others]
	holder' = holder + s->i
	Waiting' = Waiting + ((some WithoutWaiting or (s in Announced and no WaitsAlways)) => none else s)
	leads' = leads
	Announced' = Announced
	away' = away
	sameMembers
	sameWork
}

pred lead [i: Instance, s: Shard] {
	i in s.holder - s.leads
	s not in Waiting
	leads' = leads + s->i
	Announced' = Announced - s
	holder' = holder
	Waiting' = Waiting
	away' = away
	sameMembers
	sameWork
}

pred begin [i: Instance, s: Shard] {
	i in s.leads - s.works
	works' = works + s->i
	Unled' = Unled
	sameMembers
	sameShards
}

pred end [i: Instance, s: Shard] {
	i in s.works
	works' = works - s->i
	Unled' = Unled
	sameMembers
	sameShards
}

-- In order: nobody leads what it gives back, and says so if it did
pred givesBack [i: Instance, shards: set Shard] {
	holder' = holder - shards->i
	leads' = leads - shards->i
	Announced' = Announced + (shards & leads.i)
	Waiting' = Waiting - shards
	works' = works
}

pred giveUp [i: Instance, s: Shard] {
	i in running
	s in held[i]
	isAbove[i, i.others]
	i not in s.works or some InMidCall
	givesBack[i, s]
	away' = away
	Unled' = Unled
	sameMembers
}

-- Between two calls, whether or not it has the shard. What else it has it keeps
pred resign [i: Instance, s: Shard] {
	i in running
	i not in s.works
	givesBack[i, s & held[i]]
	away' = away + s->i
	no Unled'
	sameMembers
}

pred rerun [i: Instance, s: Shard] {
	i in s.away
	away' = away - s->i
	no Unled'
	sameMembers
	holder' = holder
	leads' = leads
	Announced' = Announced
	Waiting' = Waiting
	works' = works
}

pred stop [i: Instance] {
	i in Member
	i not in Shard.works
	givesBack[i, held[i]]
	away' = away - Shard->i
	no Unled'
	Member' = Member - i
	others' = others - i->Instance
}

-- The server has ended a session: the client does not know
pred vanish [i: Instance] {
	i in Member
	Member' = Member - i
	others' = others - i->Instance
	holder' = holder - Shard->i
	Waiting' = Waiting - held[i]
	leads' = leads
	Announced' = Announced
	works' = works
	away' = away
	no Unled'
}

-- Whether somebody has something to do
pred isDue {
	some i: running {
		(i.others != toCount[i] and no CountsOnce)
		or (hasRoom[i, i.others] and some s: Shard | no s.holder and i not in s.away)
		or (isAbove[i, i.others] and some held[i] - works.i)
		or some held[i] - leads.i - Waiting
	}
}

-- The clock goes on. Who leads what it does not hold is at the end of its trust: its calls are told, and are done
pred pass {
	not isDue
	leads' = leads & holder
	works' = works & holder
	no Waiting'
	Unled' = { s: Shard | no s.leads & s.holder }
	holder' = holder
	Announced' = Announced
	away' = away
	sameMembers
}

pred rest {
	sameMembers
	sameShards
	sameWork
}

fact behaviour {
	always (rest or pass or some i: Instance | join[i] or count[i] or stop[i] or vanish[i] or some s: Shard |
		take[i, s] or lead[i, s] or begin[i, s] or end[i, s] or giveUp[i, s] or resign[i, s] or rerun[i, s])
}

assert oneLeaderOfAShard {
	always all s: Shard | lone s.leads
}

assert givenUpBetweenCalls {
	always works in leads
}

assert handedOverAtOnce {
	always (pass implies { s: Announced | some running - s.away } in leads.Instance)
}

assert ledAgain {
	always (pass implies { s: Unled | some running - s.away } in leads.Instance)
}

-- Nobody is above its share for long, but for the calls that are running
assert shared {
	always (pass implies no i: running | isAbove[i, counted - i] and some held[i] - works.i)
}

-- Who joins gets its share when a call has ended
pred joined {
	some disj a, b: Instance, s: Shard |
		eventually (held[a] = Shard and join[b] and eventually (giveUp[a, s] and eventually (lead[b, s] and
			eventually pass)))
}

-- Who resigns a shard gets its share back when it runs for that again
pred resigned {
	some disj a, b: Instance, s: Shard |
		eventually (a in s.leads and resign[a, s] and eventually (lead[b, s] and eventually (rerun[a, s] and
			eventually (some t: Shard | giveUp[b, t] and eventually lead[a, t]))))
}

check oneLeaderOfAShard for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 .. 12 steps expect 0
check givenUpBetweenCalls for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 .. 12 steps expect 0
check handedOverAtOnce for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 .. 12 steps expect 0
check ledAgain for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 .. 12 steps expect 0
check shared for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 .. 12 steps expect 0
check oneLeaderOfAShard for exactly 3 Instance, exactly 3 Shard, 1 Mutant, exactly 1 WithoutWaiting, 12 steps expect 1
check givenUpBetweenCalls for exactly 3 Instance, exactly 3 Shard, 1 Mutant, exactly 1 InMidCall, 12 steps expect 1
check handedOverAtOnce for exactly 3 Instance, exactly 3 Shard, 1 Mutant, exactly 1 WaitsAlways, 12 steps expect 1
check ledAgain for exactly 3 Instance, exactly 3 Shard, 1 Mutant, exactly 1 CountsAll, 12 steps expect 1
check shared for exactly 3 Instance, exactly 3 Shard, 1 Mutant, exactly 1 CountsOnce, 12 steps expect 1
check handedOverAtOnce for exactly 3 Instance, exactly 3 Shard, 1 Mutant, exactly 1 CountsResigned, 12 steps expect 1
run joined for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 steps expect 1
run resigned for exactly 3 Instance, exactly 3 Shard, 0 Mutant, 12 steps expect 1
