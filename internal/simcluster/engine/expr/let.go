package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// letNode binds variables one after the other; none sees its siblings.
type letNode struct {
	values []node
	body   node
	slot   int
}

func parseLet(c *compiler, _ string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(16874, "$let only supports an object as its argument")
	}
	var vars, in bson.RawValue
	for key, v := range fields(arg.Value) {
		switch string(key) {
		case "vars":
			vars = v
		case "in":
			in = v
		default:
			return nil, status.Errorf(16875, "Unrecognized parameter to $let: %s", key)
		}
	}
	if vars.Type == 0 {
		return nil, status.Errorf(16876, "Missing 'vars' parameter to $let")
	}
	if in.Type == 0 {
		return nil, status.Errorf(16877, "Missing 'in' parameter to $let")
	}
	if vars.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(10065, "invalid parameter: expected an object (vars)")
	}
	var n letNode
	var names []string
	// Siblings share slots with whatever a value binds inside itself, so all
	// values are evaluated before any is bound.
	for key, v := range fields(vars.Value) {
		if err := checkVariableName(string(key), false); err != nil {
			return nil, err
		}
		value, err := c.value(v)
		if err != nil {
			return nil, err
		}
		names, n.values = append(names, string(key)), append(n.values, value)
	}
	var err error
	n.slot, err = c.bind(names, func() error {
		n.body, err = c.value(in)
		return err
	})
	return n, err
}

func (n letNode) eval(c *evaluation) (bson.RawValue, error) {
	var few [4]bson.RawValue
	bound := few[:0]
	for _, e := range n.values {
		v, err := e.eval(c)
		if err != nil {
			return v, err
		}
		bound = append(bound, v)
	}
	copy(c.locals[n.slot:], bound)
	return n.body.eval(c)
}
