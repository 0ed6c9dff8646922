/*
 * What is left after a crash of the server, and after the promotion of a standby that has not had all of the WAL: what
 * has left the process of tokens and terms is always lower than what comes after, and in what the server has that lives,
 * the effect of a tick and its row in the ledger are both there, once, or both gone.
 *
 * begin    ledger.jdbc.RunRepository.decide, ledger.jdbc.RecordedRun.begin
 *          LedgerAttemptTests.tokensBeginWithTheTimelineOfTheServer
 * flush    ledger.jdbc.RunRepository.makeDurable
 *          LedgerAttemptTests.tokenThatIsAskedForIsOnTheDiskOfTheServer
 * tell     ledger.jdbc.RecordedRun.fencingToken, leader.Leadership.term
 *          LeaderTermTests.termsRiseOverACrash
 * commit   ledger.jdbc.RecordedRun.complete
 *          LedgerTransactionTests.joinedRunCommitsTogetherWithItsEffect
 * fail     ledger.jdbc.RecordedRun.fail
 *          LedgerFencingTests.tokensRiseOverScopesInstancesAndFailures
 * ship     environment
 *          StandbyTests.standbyFollowsItsPrimaryAndGrantsWhatThatGrants
 * crash    environment
 *          LeaderTermTests.termsRiseOverACrash
 * promote  environment
 *          LeaderTermTests.termsRiseOverAPromotionThatLosesTransactions, FaultTests.faultsAreSurvived
 */
module Failover

open util/ordering[Timeline] as timelines

sig Timeline {}

sig Tick {}

sig Instance {
	var runs: lone Tick,
	-- a token that was drawn and has not left the process
	var number: lone Int
}

-- The one that lives, and the one that follows it
abstract sig Server {
	-- the last number drawn that is on disk
	var disk: Int,
	var completed: set Tick,
	-- ticks whose effect is in the database, and those where it is twice
	var effects: set Tick,
	var doubled: set Tick
}
one sig Primary, Standby extends Server {}

-- What the server has not written to its disk yet: the last number drawn
one sig Memory {
	var drawn: Int,
	var current: one Timeline
}

-- The highest token that somebody outside knows
one sig Outside {
	var highestTimeline: lone Timeline,
	var highest: Int
}

-- A token that was told is not above all that were told before
var lone sig Fell in Outside {}

-- The mutants: numbers without the timeline; told before they are on disk; ledger or effects are in another database
abstract sig Mutant {}
lone sig WithoutTimeline, WithoutFlush, LedgerElsewhere, EffectsElsewhere extends Mutant {}

fact init {
	Memory.current = timelines/first
	Memory.drawn = 0
	all s: Server | s.disk = 0
	no completed + effects + doubled
	no Outside.highestTimeline
	Outside.highest = 0
	no runs
	no number
	no Fell
}

pred outside {
	highestTimeline' = highestTimeline
	highest' = highest
	Fell' = Fell
}

pred tables {
	completed' = completed
	effects' = effects
	doubled' = doubled
}

-- Under one lock: the next begins when the one before has ended, or its session has
pred begin [i: Instance, t: Tick] {
	no runs
	t not in Primary.completed
	plus[Memory.drawn, 1] > 0
	drawn' = Memory->plus[Memory.drawn, 1]
	number' = i->plus[Memory.drawn, 1]
	runs' = i->t
	current' = current
	disk' = disk
	tables
	outside
}

pred flush {
	disk' = disk ++ Primary->Memory.drawn
	drawn' = drawn
	current' = current
	number' = number
	runs' = runs
	tables
	outside
}

-- A token leaves the process
pred tell [i: Instance] {
	some i.number
	i.number <= Primary.disk or some WithoutFlush
	Fell' = Fell + (above[i] => none else Outside)
	highestTimeline' = Outside->Memory.current
	highest' = Outside->i.number
	number' = number - i->Int
	runs' = runs
	current' = current
	drawn' = drawn
	disk' = disk
	tables
}

-- As integers: the timeline is in the high bits
pred above [i: Instance] {
	no Outside.highestTimeline or (some WithoutTimeline => i.number > Outside.highest
		else (timelines/gt[Memory.current, Outside.highestTimeline]
			or Memory.current = Outside.highestTimeline and i.number > Outside.highest))
}

-- Work and completion are in one transaction, which is on the disk of the primary before anybody hears of it
pred commit [i: Instance] {
	some i.runs
	completed' = completed + Primary->i.runs
	effects' = effects + Primary->i.runs
	doubled' = doubled + Primary->(i.runs & Primary.effects)
	disk' = disk ++ Primary->Memory.drawn
	runs' = runs - i->Tick
	number' = number - i->Int
	drawn' = drawn
	current' = current
	outside
}

pred fail [i: Instance] {
	some i.runs
	runs' = runs - i->Tick
	number' = number - i->Int
	drawn' = drawn
	current' = current
	disk' = disk
	tables
	outside
}

pred copied [from: Server, to: Server] {
	disk' = disk ++ to->from.disk
	completed' = (some LedgerElsewhere => completed else completed - to->Tick + to->from.completed)
	effects' = (some EffectsElsewhere => effects else effects - to->Tick + to->from.effects)
	doubled' = (some EffectsElsewhere => doubled else doubled - to->Tick + to->from.doubled)
}

-- The standby gets what was flushed
pred ship {
	copied[Primary, Standby]
	drawn' = drawn
	current' = current
	number' = number
	runs' = runs
	outside
}

-- What was not flushed is gone, and all sessions end
pred crash {
	drawn' = Memory->Primary.disk
	disk' = disk
	current' = current
	no number'
	no runs'
	tables
	outside
}

-- The standby takes over with what it has, on a new timeline
pred promote {
	some timelines/next[Memory.current]
	current' = Memory->timelines/next[Memory.current]
	drawn' = Memory->Standby.disk
	copied[Standby, Primary]
	no number'
	no runs'
	outside
}

pred rest {
	number' = number
	runs' = runs
	current' = current
	drawn' = drawn
	disk' = disk
	tables
	outside
}

fact behaviour {
	always (rest or flush or ship or crash or promote
		or some i: Instance | tell[i] or commit[i] or fail[i] or some t: Tick | begin[i, t])
}

assert tokensRise {
	always no Fell
}

assert effectsEqualLedger {
	always (no Primary.doubled and Primary.effects = Primary.completed)
}

-- A standby that missed a tick and its token is promoted, the tick is done again, and tokens go on
pred doneAgain {
	some a, b: Instance, t: Tick |
		eventually (tell[a] and after (commit[a] and eventually (t in Primary.effects - Standby.effects and promote and
			eventually (begin[b, t] and eventually (tell[b] and after commit[b])))))
}

check tokensRise for exactly 3 Instance, exactly 3 Timeline, exactly 1 Tick, 4 Int, 0 Mutant, 12 .. 12 steps expect 0
check effectsEqualLedger for exactly 3 Instance, exactly 3 Timeline, exactly 2 Tick, 4 Int, 0 Mutant, 12 .. 12 steps expect 0
check tokensRise for exactly 3 Instance, exactly 3 Timeline, exactly 1 Tick, 4 Int, 1 Mutant, exactly 1 WithoutTimeline, 12 steps expect 1
check tokensRise for exactly 3 Instance, exactly 3 Timeline, exactly 1 Tick, 4 Int, 1 Mutant, exactly 1 WithoutFlush, 12 steps expect 1
check effectsEqualLedger for exactly 3 Instance, exactly 3 Timeline, exactly 1 Tick, 4 Int, 1 Mutant, exactly 1 LedgerElsewhere, 12 steps expect 1
check effectsEqualLedger for exactly 3 Instance, exactly 3 Timeline, exactly 1 Tick, 4 Int, 1 Mutant, exactly 1 EffectsElsewhere, 12 steps expect 1
run doneAgain for exactly 3 Instance, exactly 3 Timeline, exactly 1 Tick, 4 Int, 0 Mutant, 12 steps expect 1
