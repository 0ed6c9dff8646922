import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads recordings of the JVM's flight recorder, and fails if a class in one of some folders had a virtual thread pinned to
 * its carrier: by being initialized for long, or by calling what was pinned for another reason than that a class was
 * initialized, loaded or linked. That happens once for each class in the life of a JVM.
 * usage: java PinnedThreads.java RECORDINGS CLASSES...
 */
final class PinnedThreads {

	private static final long TOO_FEW = 1000;

	/**
	 * A class that is initialized waits a moment for the lock of a logger or of a class
	 * loader, once in the life of a JVM; one that asks a server waits for longer.
	 */
	private static final Duration LONG_INITIALIZATION = Duration.ofMillis(100);

	private static final Pattern INITIALIZED = Pattern
		.compile("VM call to (\\S+)\\.<clinit> on stack|initialization of (\\S+) by another thread");

	public static void main(String[] arguments) throws IOException {
		List<Path> classes = Stream.of(arguments).skip(1).map(Path::of).toList();
		long started = 0;
		long ours = 0;
		Map<String, Integer> others = new TreeMap<>();
		for (Path recording : recordings(Path.of(arguments[0]))) {
			try (RecordingFile events = new RecordingFile(recording)) {
				while (events.hasMoreEvents()) {
					RecordedEvent event = events.readEvent();
					String type = event.getEventType().getName();
					if (type.equals("jdk.VirtualThreadStart")) {
						started++;
					}
					else if (type.equals("jdk.VirtualThreadPinned") && isOf(classes, event)) {
						ours++;
						print(event);
					}
					else if (type.equals("jdk.VirtualThreadPinned")) {
						others.merge(event.getString("pinnedReason"), 1, Integer::sum);
					}
				}
			}
		}
		others.forEach((reason, times) -> System.out.println("Pinned by others, " + times + "x: " + reason));
		System.out.println(started + " virtual threads were started; the library had one pinned " + ours + " times");
		if (ours > 0 || started < TOO_FEW) {
			System.out.println((ours > 0) ? "It may not" : "That is too few to have seen anything");
			System.exit(1);
		}
	}

	private static List<Path> recordings(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			return files.filter((file) -> file.toString().endsWith(".jfr")).toList();
		}
	}

	private static boolean isOf(List<Path> classes, RecordedEvent event) {
		if (isOfClassLoading(event)) {
			return false;
		}
		Matcher initialized = INITIALIZED.matcher(event.getString("pinnedReason"));
		if (initialized.find()) {
			return isIn(classes, (initialized.group(1) != null) ? initialized.group(1) : initialized.group(2))
					&& event.getDuration().compareTo(LONG_INITIALIZATION) >= 0;
		}
		return frames(event).anyMatch((frame) -> isIn(classes, frame.getMethod().getType().getName()));
	}

	/**
	 * The JVM lets no virtual thread go (2 stands for a critical section) that waits for
	 * the lock under which it loads or links a class, wherever that is used for the first
	 * time. A monitor in Java code pins nothing since Java 24, and says none of this. Nor
	 * does it let one go that waits in a class loader which it has asked.
	 */
	private static boolean isOfClassLoading(RecordedEvent event) {
		return (event.getString("pinnedReason").equals("Freeze or preempt failed (2)")
				&& event.getString("blockingOperation").equals("Contended monitor enter"))
				|| frames(event).anyMatch((frame) -> frame.getMethod().getName().equals("loadClass"));
	}

	private static boolean isIn(List<Path> classes, String type) {
		return classes.stream().anyMatch((folder) -> Files.exists(folder.resolve(type.replace('.', '/') + ".class")));
	}

	private static Stream<RecordedFrame> frames(RecordedEvent event) {
		return (event.getStackTrace() != null)
				? event.getStackTrace().getFrames().stream().filter(RecordedFrame::isJavaFrame) : Stream.empty();
	}

	private static void print(RecordedEvent event) {
		System.out.println("Pinned by the library for " + event.getDuration() + ": " + event.getString("pinnedReason"));
		frames(event).forEach((frame) -> System.out.println("    " + frame.getMethod().getType().getName() + "."
				+ frame.getMethod().getName() + ":" + frame.getLineNumber()));
	}

}
