package desk;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.springframework.stereotype.Component;

@Component
public class RunNow {

	private final LockProvider lockProvider;

	public RunNow(LockProvider lockProvider) {
		this.lockProvider = lockProvider;
	}

	public boolean underLock(String name, Runnable work) {
		Optional<SimpleLock> lock = this.lockProvider
				.lock(new LockConfiguration(Instant.now(), name, Duration.ofMinutes(10), Duration.ZERO));
		if (lock.isEmpty()) {
			return false;
		}
		try {
			work.run();
		}
		finally {
			lock.get().unlock();
		}
		return true;
	}

}
