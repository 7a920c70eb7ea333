package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func comparisonOperators(name string) parser {
	switch name {
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp":
		return parseComparison
	}
	return nil
}

// comparison is a separate node without an operand list, because filters evaluate it
// for every document.
type comparison struct {
	op          string
	left, right node
}

func parseComparison(c *compiler, name string, arg bson.RawValue) (node, error) {
	args, err := c.operands(arg)
	if err != nil {
		return nil, err
	}
	if len(args) != 2 {
		return nil, status.Errorf(16020, "Expression %s takes exactly 2 arguments. %d were passed in.", name, len(args))
	}
	return comparison{name, args[0], args[1]}, nil
}

func (n comparison) eval(c *evaluation) (bson.RawValue, error) {
	a, err := n.left.eval(c)
	if err != nil {
		return a, err
	}
	b, err := n.right.eval(c)
	if err != nil {
		return b, err
	}
	return compared(n.op, value.Compare(a, b)), nil
}

func compared(op string, r int) bson.RawValue {
	switch op {
	case "$eq":
		return value.Bool(r == 0)
	case "$ne":
		return value.Bool(r != 0)
	case "$gt":
		return value.Bool(r > 0)
	case "$gte":
		return value.Bool(r >= 0)
	case "$lt":
		return value.Bool(r < 0)
	case "$lte":
		return value.Bool(r <= 0)
	}
	return value.Int32(int32(r))
}
