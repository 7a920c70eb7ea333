package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// branches evaluates the value of the first case that holds.
type branches struct {
	cases, values []node
	otherwise     node // nil: no case holding is an error
}

func (n branches) eval(c *evaluation) (bson.RawValue, error) {
	for i, cond := range n.cases {
		v, err := cond.eval(c)
		if err != nil {
			return v, err
		}
		if Truthy(v) {
			return n.values[i].eval(c)
		}
	}
	if n.otherwise == nil {
		return missing(), status.Errorf(40066, "$switch could not find a matching branch for an input, and no default was specified.")
	}
	return n.otherwise.eval(c)
}

func parseCond(c *compiler, name string, arg bson.RawValue) (node, error) {
	var args []node
	var err error
	if arg.Type == bson.TypeEmbeddedDocument {
		names := []string{"if", "then", "else"}
		args, err = c.named(arg, names, func(f string) error {
			return status.Errorf(17083, "Unrecognized parameter to $cond: %s", f)
		})
		for i := 0; err == nil && i < len(args); i++ {
			if args[i] == nil {
				err = status.Errorf(17080+int32(i), "Missing '%s' parameter to $cond", names[i])
			}
		}
	} else {
		args, err = c.operands(arg)
		if err == nil && len(args) != 3 {
			err = status.Errorf(16020, "Expression %s takes exactly 3 arguments. %d were passed in.", name, len(args))
		}
	}
	if err != nil {
		return nil, err
	}
	return branches{args[:1], args[1:2], args[2]}, nil
}

func parseSwitch(c *compiler, _ string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(40060, "$switch requires an object as an argument, found: %s", TypeName(arg))
	}
	var n branches
	for key, v := range fields(arg.Value) {
		switch string(key) {
		case "branches":
			if v.Type != bson.TypeArray {
				return nil, status.Errorf(40061, "$switch expected an array for 'branches', found: %s", TypeName(v))
			}
			for b := range items(v.Value) {
				if err := c.branch(&n, b); err != nil {
					return nil, err
				}
			}
		case "default":
			var err error
			if n.otherwise, err = c.value(v); err != nil {
				return nil, err
			}
		default:
			return nil, status.Errorf(40067, "$switch found an unknown argument: %s", key)
		}
	}
	if len(n.cases) == 0 {
		return nil, status.Errorf(40068, "$switch requires at least one branch.")
	}
	return n, nil
}

func (c *compiler) branch(n *branches, b bson.RawValue) error {
	if b.Type != bson.TypeEmbeddedDocument {
		return status.Errorf(40062, "$switch expected each branch to be an object, found: %s", TypeName(b))
	}
	parts, err := c.named(b, []string{"case", "then"}, func(f string) error {
		return status.Errorf(40063, "$switch found an unknown argument to a branch: %s", f)
	})
	switch {
	case err != nil:
		return err
	case parts[0] == nil:
		return status.Errorf(40064, "$switch requires each branch have a 'case' expression")
	case parts[1] == nil:
		return status.Errorf(40065, "$switch requires each branch have a 'then' expression.")
	}
	n.cases, n.values = append(n.cases, parts[0]), append(n.values, parts[1])
	return nil
}
