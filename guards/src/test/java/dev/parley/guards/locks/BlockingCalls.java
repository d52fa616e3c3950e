package dev.parley.guards.locks;

import dev.parley.guards.locks.MethodCode.Id;
import java.util.Map;
import java.util.regex.Pattern;

/** Methods of the JDK and of libraries that may wait for a disk, a network, a process or a thread. */
final class BlockingCalls {
    /** Blocking methods by class. A name of a class that ends with * stands for all classes of the package. */
    private static final Map<String, Pattern> METHODS = Map.ofEntries(
            of("java/nio/file/Files", ".*"),
            of("java/nio/channels/FileChannel", "open|read|write|force|transfer.*|truncate|lock|tryLock|size|map"),
            of("java/nio/channels/SocketChannel", "open|connect|read|write|finishConnect"),
            of("java/nio/channels/ServerSocketChannel", "open|bind|accept"),
            of("java/nio/channels/Channels", "newInputStream|newOutputStream"),
            of("java/io/File", "exists|delete|length|list.*|mkdir.*|renameTo|createNewFile|isFile|isDirectory|can.*"),
            of("java/io/FileInputStream", ".*"),
            of("java/io/FileOutputStream", ".*"),
            of("java/io/FileDescriptor", "sync"),
            of("java/io/RandomAccessFile", ".*"),
            of("java/io/InputStream", "read.*|skip.*|transferTo"),
            of("java/io/OutputStream", "write|flush"),
            of("java/io/Reader", "read.*|transferTo"),
            of("java/io/Writer", "write|append|flush"),
            of("java/io/BufferedReader", "read.*|lines"),
            of("java/io/BufferedWriter", "write|append|flush|newLine"),
            of("java/io/PrintStream", "write|print.*|format|flush"),
            of("java/io/Console", "read.*|printf"),
            of("java/sql/Connection", ".*"),
            of("java/sql/Statement", ".*"),
            of("java/sql/PreparedStatement", ".*"),
            of("java/sql/ResultSet", ".*"),
            of("java/sql/Driver", "connect"),
            of("java/sql/DriverManager", "getConnection"),
            of("javax/sql/*", "getConnection"),
            of("org/sqlite/*", ".*"),
            of("org/postgresql/*", ".*"),
            of("java/net/http/HttpClient", "send|close|awaitTermination"),
            of("java/net/Socket", "<init>|connect|getInputStream|getOutputStream|close"),
            of("java/net/ServerSocket", "<init>|accept|bind"),
            of("java/net/DatagramSocket", "send|receive|connect"),
            of("java/net/InetAddress", "get.*HostName|getByName|getLocalHost|getAllByName|isReachable"),
            of("java/net/InetSocketAddress", "<init>\\(Ljava/lang/String;I|getHostName"),
            of("java/net/NetworkInterface", ".*"),
            of("java/net/URL", "open.*"),
            of("java/net/URLConnection", "get.*|connect"),
            of("java/lang/ProcessBuilder", "start"),
            of("java/lang/Process", "waitFor"),
            of("java/lang/Thread", "sleep|join"),
            of("java/util/concurrent/Future", "get"),
            of("java/util/concurrent/FutureTask", "get"),
            of("java/util/concurrent/CompletableFuture", "get|join"),
            of("java/util/concurrent/CountDownLatch", "await"),
            of("java/util/concurrent/Semaphore", "acquire.*"),
            of("java/util/concurrent/BlockingQueue", "take|put"),
            of("java/util/concurrent/LinkedBlockingQueue", "take|put"),
            of("java/util/concurrent/ArrayBlockingQueue", "take|put"),
            of("java/util/concurrent/SynchronousQueue", "take|put"),
            of("java/util/concurrent/ExecutorService", "awaitTermination|close|invoke.*"),
            of("java/util/concurrent/ThreadPoolExecutor", "awaitTermination|close|invoke.*"),
            of("java/util/concurrent/ScheduledExecutorService", "awaitTermination|close|invoke.*"),
            of("java/util/concurrent/ScheduledThreadPoolExecutor", "awaitTermination|close|invoke.*"),
            of("java/util/concurrent/locks/LockSupport", "park.*"),
            of("io/helidon/common/socket/*", "read|write.*|flush"),
            of("io/helidon/common/buffers/DataWriter", "write.*|flush"),
            of("io/helidon/common/buffers/DataReader", "read.*|ensureAvailable|pullData"),
            of("io/helidon/webserver/http/ServerResponse", "send|outputStream"));

    private BlockingCalls() {}

    private static Map.Entry<String, Pattern> of(String type, String methods) {
        return Map.entry(type, Pattern.compile("(?:" + methods + ")(?=[()])"));
    }

    /** Whether a call may wait for something other than a lock. */
    static boolean has(Id call) {
        Pattern methods = METHODS.get(call.owner());
        if (methods == null) {
            methods = METHODS.get(call.owner().substring(0, call.owner().lastIndexOf('/') + 1) + "*");
        }
        return methods != null
                && methods.matcher(call.name() + call.descriptor()).lookingAt();
    }

    /** Whether a call waits until another thread changes what a lock guards. It frees that lock meanwhile, but no other. */
    static boolean isCondition(Id call) {
        return call.owner().equals("java/util/concurrent/locks/Condition")
                        && call.name().startsWith("await")
                || call.owner().equals("java/lang/Object") && call.name().equals("wait");
    }
}
