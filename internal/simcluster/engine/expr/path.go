package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// fieldPath compiles "$a.b", "$$ROOT.a", "$$NOW", "$$user.a".
func (c *compiler) fieldPath(s string) (node, error) {
	if s == "$" {
		return nil, status.Errorf(16872, "'$' by itself is not a valid FieldPath")
	}
	if !strings.HasPrefix(s, "$$") {
		path, err := splitPath(s[1:])
		if err != nil {
			return nil, err
		}
		if slot, ok := c.slot("CURRENT"); ok {
			return pathNode{base: localNode(slot), path: path}, nil
		}
		return rootPath(path), nil
	}
	name, rest, dotted := strings.Cut(s[2:], ".")
	var path []string
	if dotted {
		var err error
		if path, err = splitPath(rest); err != nil {
			return nil, err
		}
	}
	base, err := c.variable(name)
	if err != nil {
		return nil, err
	}
	if len(path) == 0 {
		return base, nil
	}
	if _, ok := base.(rootNode); ok {
		return rootPath(path), nil
	}
	return pathNode{base: base, path: path}, nil
}

func (c *compiler) slot(name string) (int, bool) {
	for i := len(c.names) - 1; i >= 0; i-- {
		if c.names[i] == name {
			return i, true
		}
	}
	return 0, false
}

func (c *compiler) variable(name string) (node, error) {
	if slot, ok := c.slot(name); ok {
		return localNode(slot), nil
	}
	switch name {
	case "ROOT", "CURRENT":
		return rootNode{}, nil
	case "NOW", "CLUSTER_TIME":
		return clockNode(name), nil
	case "REMOVE":
		return constant{}, nil
	}
	if !c.known(name) {
		return nil, status.Errorf(17276, "Use of undefined variable: %s", name)
	}
	return userNode(name), nil
}

// rootNode is $$ROOT.
type rootNode struct{}

func (rootNode) eval(c *evaluation) (bson.RawValue, error) {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: c.root}, nil
}

// rootPath is a field of the document.
type rootPath []string

func (n rootPath) eval(c *evaluation) (bson.RawValue, error) { return follow(c.root, n), nil }

// localNode is a variable bound by an enclosing expression.
type localNode int

func (n localNode) eval(c *evaluation) (bson.RawValue, error) { return c.locals[n], nil }

// userNode is a variable of the environment.
type userNode string

func (n userNode) eval(c *evaluation) (bson.RawValue, error) { return c.env.Vars[string(n)], nil }

type clockNode string

func (n clockNode) eval(c *evaluation) (bson.RawValue, error) {
	if n == "NOW" {
		return dateValue(c.env.Now.UnixMilli()), nil
	}
	return value.Timestamp(c.env.ClusterTime.T, c.env.ClusterTime.I), nil
}

// pathNode is a field of what another node yields.
type pathNode struct {
	base node
	path []string
}

func (n pathNode) eval(c *evaluation) (bson.RawValue, error) {
	v, err := n.base.eval(c)
	if err != nil {
		return v, err
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return follow(v.Value, n.path), nil
	case bson.TypeArray:
		return followEach(v, n.path), nil
	}
	return missing(), nil
}

// follow reads a path; an array on the way yields the array of what its
// elements have at the rest of the path. A number in a path never indexes an
// array: that is the query language's, not the expressions'.
func follow(doc []byte, path []string) bson.RawValue {
	for {
		v := value.Field(doc, path[0])
		if len(path) == 1 {
			return v
		}
		path = path[1:]
		switch v.Type {
		case bson.TypeEmbeddedDocument:
			doc = v.Value
		case bson.TypeArray:
			return followEach(v, path)
		default:
			return missing()
		}
	}
}

func followEach(array bson.RawValue, path []string) bson.RawValue {
	w := value.NewBuilder(64)
	for item := range value.Items(array) {
		var v bson.RawValue
		switch item.Type {
		case bson.TypeEmbeddedDocument:
			v = follow(item.Value, path)
		case bson.TypeArray:
			v = followEach(item, path)
		}
		if v.Type != 0 {
			w.Push(orNull(v))
		}
	}
	return arrayValue(w)
}
