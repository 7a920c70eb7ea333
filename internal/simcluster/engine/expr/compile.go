package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// compiler turns values into nodes; it tracks which variables are in scope and
// which slot each of them has.
type compiler struct {
	known func(string) bool // variables of the environment
	names []string          // variables bound by enclosing expressions, innermost last; index = slot
	peak  int               // slots needed
}

// bind puts variables in scope for the call of body and returns the slot of
// the first.
func (c *compiler) bind(names []string, body func() error) (slot int, err error) {
	slot = len(c.names)
	c.names = append(c.names, names...)
	c.peak = max(c.peak, len(c.names))
	err = body()
	c.names = c.names[:slot]
	return slot, err
}

// value compiles anything that may stand where an operand is expected.
func (c *compiler) value(v bson.RawValue) (node, error) {
	switch v.Type {
	case bson.TypeString:
		s := str(v)
		if strings.HasPrefix(s, "$") {
			return c.fieldPath(s)
		}
	case bson.TypeEmbeddedDocument:
		return c.object(v.Value)
	case bson.TypeArray:
		ns, err := c.list(v)
		return arrayNode(ns), err
	}
	return constant{v}, nil
}

// object compiles {$op: …} or a document literal.
func (c *compiler) object(doc []byte) (node, error) {
	if name, arg := value.First(doc); strings.HasPrefix(name, "$") {
		if value.Len(doc) != 1 {
			return nil, status.Errorf(15983, "An object representing an expression must have exactly one field: %s",
				Text(value.Doc(doc)))
		}
		return c.operator(name, arg)
	}
	return c.literalObject(doc)
}

func (c *compiler) literalObject(doc []byte) (node, error) {
	var o objectNode
	for k, v := range value.Elements(doc) {
		if err := checkFieldName(k); err != nil {
			return nil, err
		}
		n, err := c.value(v)
		if err != nil {
			return nil, err
		}
		o.keys, o.values = append(o.keys, k), append(o.values, n)
	}
	return o, nil
}

func (c *compiler) list(array bson.RawValue) (ns []node, err error) {
	for v := range value.Items(array) {
		n, err := c.value(v)
		if err != nil {
			return nil, err
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// operands compiles the argument of an operator: an array is the list of its
// operands, anything else is the only one.
func (c *compiler) operands(arg bson.RawValue) ([]node, error) {
	if arg.Type == bson.TypeArray {
		return c.list(arg)
	}
	n, err := c.value(arg)
	return []node{n}, err
}

// checkFieldName enforces the rules for names in document literals and paths.
func checkFieldName(name string) error {
	switch {
	case name == "":
		return status.Errorf(15998, "FieldPath field names may not be empty strings.")
	case name[0] == '$':
		return status.Errorf(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.")
	case strings.Contains(name, "."):
		return status.Errorf(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
	}
	return nil
}

// splitPath cuts a dotted path and checks each name.
func splitPath(path string) ([]string, error) {
	if strings.HasSuffix(path, ".") {
		return nil, status.Errorf(40353, "FieldPath must not end with a '.'.")
	}
	parts := strings.Split(path, ".")
	for _, p := range parts {
		if err := checkFieldName(p); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// constant is a value that depends on nothing.
type constant struct{ v bson.RawValue }

func (n constant) eval(*evaluation) (bson.RawValue, error) { return n.v, nil }

// objectNode builds a document; fields whose value is missing are left out.
type objectNode struct {
	keys   []string
	values []node
}

func (n objectNode) eval(c *evaluation) (bson.RawValue, error) {
	w := value.NewBuilder(64)
	for i, k := range n.keys {
		v, err := n.values[i].eval(c)
		if err != nil {
			return missing(), err
		}
		w.Append(k, v)
	}
	return value.Doc(w.Raw()), nil
}

// arrayNode builds an array; missing values become null.
type arrayNode []node

func (n arrayNode) eval(c *evaluation) (bson.RawValue, error) {
	w := value.NewBuilder(64)
	for _, e := range n {
		v, err := e.eval(c)
		if err != nil {
			return missing(), err
		}
		w.Push(orNull(v))
	}
	return arrayValue(w), nil
}
