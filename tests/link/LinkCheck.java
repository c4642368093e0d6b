import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.Handle;
import org.apache.xbean.asm9.Type;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.ClassNode;
import org.apache.xbean.asm9.tree.FieldInsnNode;
import org.apache.xbean.asm9.tree.FieldNode;
import org.apache.xbean.asm9.tree.InvokeDynamicInsnNode;
import org.apache.xbean.asm9.tree.LdcInsnNode;
import org.apache.xbean.asm9.tree.MethodInsnNode;
import org.apache.xbean.asm9.tree.MethodNode;
import org.apache.xbean.asm9.tree.MultiANewArrayInsnNode;
import org.apache.xbean.asm9.tree.TypeInsnNode;

/**
 * Would the bundle link against the jars of one Spark? Resolves every class, method and field that
 * its classes name, as the JVM would, and looks for interface methods nobody implements.
 *
 * <p>Arguments: the bundle, and a folder of jars. Prints {@code checked <classes> <references>} and
 * a line {@code broken <what> <from>} for each thing that would fail; ends with 1 if there is one.
 * A class or member that is missing counts only if our own code names it or if Spark, Scala, Java,
 * slf4j or the bundle should have it: the libraries inside probe for optional ones.
 *
 * <p>With the bundle alone, prints each class and member of Spark that our own code names.
 */
final class LinkCheck {
  private static final String OURS = "sparkkinesis/";
  private static final String SHADED = "sparkkinesis/shaded/";
  private static final String REAL_TIME =
      "org/apache/spark/sql/connector/read/streaming/SupportsRealTime";

  private final Map<String, byte[]> bytes = new HashMap<>();
  private final Map<String, Optional<ClassNode>> parsed = new HashMap<>();
  private final TreeSet<String> broken = new TreeSet<>();
  private final TreeSet<String> ofSpark = new TreeSet<>();
  private long references = 0;

  public static void main(String[] arguments) throws IOException {
    LinkCheck check = new LinkCheck();
    if (arguments.length == 1) check.printOfSpark(Path.of(arguments[0]));
    else check.checkAgainst(Path.of(arguments[1]), Path.of(arguments[0]));
  }

  private void printOfSpark(Path bundle) throws IOException {
    List<String> names = load(bundle);
    for (String name : names) find(name).ifPresent(this::resolveAll);
    ofSpark.forEach(System.out::println);
  }

  private void checkAgainst(Path folder, Path bundle) throws IOException {
    List<Path> jars;
    try (Stream<Path> files = Files.list(folder)) {
      jars = files.filter(file -> file.toString().endsWith(".jar")).toList();
    }
    for (Path jar : jars) load(jar);
    List<String> names = load(bundle);
    for (String name : names) find(name).filter(this::isUsed).ifPresent(this::resolveAll);
    System.out.printf("checked %d %d%n", names.size(), references);
    broken.forEach(line -> System.out.println("broken " + line));
    System.exit(broken.isEmpty() ? 0 : 1);
  }

  private List<String> load(Path path) throws IOException {
    List<String> names = new ArrayList<>();
    try (JarFile jar = new JarFile(path.toFile())) {
      for (var entry : (Iterable<java.util.jar.JarEntry>) jar.stream()::iterator) {
        String file = entry.getName();
        if (!file.endsWith(".class") || file.startsWith("META-INF/")) continue;
        String name = file.substring(0, file.length() - ".class".length());
        try (InputStream in = jar.getInputStream(entry)) {
          bytes.put(name, in.readAllBytes());
        }
        names.add(name);
      }
    }
    return names;
  }

  /**
   * Whether this Spark loads the class. The connector loads the classes of its folder spark-4.1 by
   * name, and only where Spark has their interfaces.
   */
  private boolean isUsed(ClassNode node) {
    return node.interfaces.stream()
        .noneMatch(name -> name.startsWith(REAL_TIME) && find(name).isEmpty());
  }

  private Optional<ClassNode> find(String name) {
    Optional<ClassNode> known = parsed.get(name);
    if (known == null) {
      known = read(name);
      parsed.put(name, known);
    }
    return known;
  }

  private Optional<ClassNode> read(String name) {
    byte[] own = bytes.get(name);
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (InputStream java = own == null ? platform.getResourceAsStream(name + ".class") : null) {
      if (own == null && java == null) return Optional.empty();
      ClassNode node = new ClassNode();
      new ClassReader(own == null ? java.readAllBytes() : own)
          .accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return Optional.of(node);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private void resolveAll(ClassNode node) {
    if (node.superName != null) type(node.superName, node);
    node.interfaces.forEach(name -> type(name, node));
    for (FieldNode field : node.fields) type(Type.getType(field.desc), node);
    for (MethodNode method : node.methods) {
      signature(method.desc, node);
      method.exceptions.forEach(name -> type(name, node));
      for (AbstractInsnNode instruction : method.instructions) resolve(instruction, node);
    }
    if (isOurs(node.name) && !Modifier.isAbstract(node.access)) implementsAll(node);
  }

  private void resolve(AbstractInsnNode instruction, ClassNode from) {
    if (instruction instanceof MethodInsnNode call) method(call.owner, call.name, call.desc, from);
    else if (instruction instanceof FieldInsnNode use) field(use.owner, use.name, use.desc, from);
    else if (instruction instanceof TypeInsnNode use) type(Type.getObjectType(use.desc), from);
    else if (instruction instanceof MultiANewArrayInsnNode use) type(Type.getType(use.desc), from);
    else if (instruction instanceof LdcInsnNode load) constant(load.cst, from);
    else if (instruction instanceof InvokeDynamicInsnNode call) {
      signature(call.desc, from);
      handle(call.bsm, from);
      for (Object argument : call.bsmArgs) constant(argument, from);
    }
  }

  private void constant(Object value, ClassNode from) {
    if (value instanceof Type type && type.getSort() == Type.METHOD)
      signature(type.getDescriptor(), from);
    else if (value instanceof Type type) type(type, from);
    else if (value instanceof Handle handle) handle(handle, from);
  }

  private void handle(Handle handle, ClassNode from) {
    if (handle.getDesc().startsWith("("))
      method(handle.getOwner(), handle.getName(), handle.getDesc(), from);
    else field(handle.getOwner(), handle.getName(), handle.getDesc(), from);
  }

  private void signature(String descriptor, ClassNode from) {
    type(Type.getReturnType(descriptor), from);
    for (Type argument : Type.getArgumentTypes(descriptor)) type(argument, from);
  }

  private void type(Type type, ClassNode from) {
    Type element = type.getSort() == Type.ARRAY ? type.getElementType() : type;
    if (element.getSort() == Type.OBJECT) type(element.getInternalName(), from);
  }

  private boolean type(String name, ClassNode from) {
    references++;
    boolean found = find(name).isPresent();
    note("class", name, "", from);
    if (!found && isOwed(name, from)) broken.add("class " + name + " from " + from.name);
    return found;
  }

  private void method(String owner, String name, String descriptor, ClassNode from) {
    signature(descriptor, from);
    // Arrays have Object's methods; method handles take any descriptor.
    if (owner.startsWith("[") || owner.matches("java/lang/invoke/(MethodHandle|VarHandle)")) return;
    note("method", owner, "." + name + descriptor, from);
    if (type(owner, from) && !hasMethod(owner, name, descriptor) && isOwedWhole(owner, from))
      broken.add("method " + owner + "." + name + descriptor + " from " + from.name);
  }

  private void field(String owner, String name, String descriptor, ClassNode from) {
    type(Type.getType(descriptor), from);
    note("field", owner, "." + name + " " + descriptor, from);
    if (type(owner, from) && !hasField(owner, name, descriptor) && isOwedWhole(owner, from))
      broken.add("field " + owner + "." + name + " " + descriptor + " from " + from.name);
  }

  /** Keeps what our own code names of Spark: a class that is not in the bundle, or its member. */
  private void note(String kind, String owner, String member, ClassNode from) {
    boolean isOfSpark = owner.startsWith("org/apache/spark/") && !bytes.containsKey(owner);
    if (isOfSpark && isOurs(from.name)) ofSpark.add(kind + " " + owner + member);
  }

  private boolean hasMethod(String owner, String name, String descriptor) {
    return ancestry(owner).stream()
        .flatMap(node -> node.methods.stream())
        .anyMatch(method -> method.name.equals(name) && method.desc.equals(descriptor));
  }

  private boolean hasField(String owner, String name, String descriptor) {
    return ancestry(owner).stream()
        .flatMap(node -> node.fields.stream())
        .anyMatch(field -> field.name.equals(name) && field.desc.equals(descriptor));
  }

  /**
   * Whether a class that we or Spark should have lacks a member, not an optional one of a library.
   */
  private boolean isOwedWhole(String owner, ClassNode from) {
    return (owner.startsWith(SHADED) || isOwed(owner, from)) && isWhole(owner);
  }

  private static boolean isOwed(String name, ClassNode from) {
    return isOurs(from.name) || name.matches("(java|scala|org/slf4j|org/apache/spark)/.*");
  }

  /** Whether all its ancestors are there: an optional one that is not may hold the member. */
  private boolean isWhole(String name) {
    return find(name)
        .map(
            node ->
                (node.superName == null || isWhole(node.superName))
                    && node.interfaces.stream().allMatch(this::isWhole))
        .orElse(false);
  }

  /** A class, its superclasses and all their interfaces; an interface also has Object's methods. */
  private List<ClassNode> ancestry(String name) {
    Map<String, ClassNode> seen = new HashMap<>();
    collect(name, seen);
    collect("java/lang/Object", seen);
    return List.copyOf(seen.values());
  }

  private void collect(String name, Map<String, ClassNode> seen) {
    if (seen.containsKey(name)) return;
    find(name)
        .ifPresent(
            node -> {
              seen.put(name, node);
              if (node.superName != null) collect(node.superName, seen);
              node.interfaces.forEach(parent -> collect(parent, seen));
            });
  }

  private void implementsAll(ClassNode node) {
    List<ClassNode> family = ancestry(node.name);
    TreeSet<String> concrete = new TreeSet<>();
    for (ClassNode member : family)
      for (MethodNode method : member.methods)
        if (!Modifier.isAbstract(method.access)) concrete.add(method.name + method.desc);
    for (ClassNode member : family)
      for (MethodNode method : member.methods)
        if (Modifier.isAbstract(method.access) && !concrete.contains(method.name + method.desc))
          broken.add(
              "unimplemented %s.%s%s in %s"
                  .formatted(member.name, method.name, method.desc, node.name));
  }

  private static boolean isOurs(String name) {
    return !name.startsWith(SHADED)
        && (name.startsWith(OURS) || name.startsWith("org/apache/spark/"));
  }
}
