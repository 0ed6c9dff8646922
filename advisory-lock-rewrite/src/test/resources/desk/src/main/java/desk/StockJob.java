package desk;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
public class StockJob {

	private final AtomicInteger runs = new AtomicInteger();

	private final AtomicInteger others = new AtomicInteger();

	@Scheduled(cron = "0 0 4 * * SUN")
	@SchedulerLock(name = "stock", lockAtMostFor = "10m")
	public void count() {
		this.runs.incrementAndGet();
	}

	public AtomicInteger runs() {
		return this.runs;
	}

	public AtomicInteger others() {
		return this.others;
	}

	// Stays under ShedLock: it returns a future
	@SchedulerLock(name = "prices", lockAtMostFor = "10m")
	public CompletableFuture<Void> prices() {
		this.others.incrementAndGet();
		return CompletableFuture.completedFuture(null);
	}

}
