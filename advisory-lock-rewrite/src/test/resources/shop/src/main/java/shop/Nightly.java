package shop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.Scheduled;

@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Scheduled(cron = "0 0 3 * * *")
@SchedulerLock(lockAtLeastFor = "1m")
public @interface Nightly {

	@AliasFor(annotation = SchedulerLock.class, attribute = "name")
	String job();

	@AliasFor(annotation = SchedulerLock.class, attribute = "lockAtMostFor")
	String atMost() default "2h";

}
