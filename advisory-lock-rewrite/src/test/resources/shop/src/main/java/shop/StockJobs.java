package shop;

import java.time.Duration;

import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * What is in stock, and what is missing.
 * <p>
 * Writes to the {@link Journal}.
 *
 * @see Journal#note(String)
 */
@Component
class StockJobs {

	private final Journal journal;

	StockJobs(Journal journal) {
		this.journal = journal;
	}

	// 5: a name from the configuration
	@Scheduled(fixedDelay = 3_600_000, initialDelay = 3_600_000)
	@SchedulerLock(name = "${stock.lock}", lockAtMostFor = "20m")
	public void count() {
		LockAssert.assertLocked();
		this.journal.note("count");
	}

	// 6: no more than one run in five minutes, in the whole fleet
	@Scheduled(fixedRate = 3_600_000, initialDelay = 3_600_000)
	@SchedulerLock(name = "stock-prices", lockAtMostFor = "10m", lockAtLeastFor = "5m")
	public void prices() {
		this.journal.note("prices");
	}

	// 7: longer than anybody knows
	@Scheduled(cron = "${stock.reorder:0 0 4 * * SUN}")
	@SchedulerLock(
			name = "stock-reorder",
			lockAtMostFor = "5m")
	public void reorder() {
		LockExtender.extendActiveLock(Duration.ofMinutes(5), Duration.ZERO);
		this.journal.note("reorder");
	}

}
