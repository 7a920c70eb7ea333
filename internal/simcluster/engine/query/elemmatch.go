package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (p *parser) allOperator(path string, v bson.RawValue) (condition, error) {
	if v.Type != bson.TypeArray {
		return condition{}, status.Errorf(status.BadValue, "$all needs an array")
	}
	parts := []condition{}
	matching := 0
	for item := range value.Items(v) {
		name, operand := "", bson.RawValue{}
		if item.Type == bson.TypeEmbeddedDocument {
			name, operand = value.First(item.Value)
		}
		switch {
		case name == "$elemMatch":
			matching++
			t, err := p.elemMatch(path, operand)
			if err != nil {
				return condition{}, err
			}
			parts = append(parts, condition{test: t})
			continue
		case isOperators(item):
			return condition{}, status.Errorf(status.BadValue, "no $ expressions in $all")
		}
		c, err := p.conditions(path, item)
		if err != nil {
			return condition{}, err
		}
		parts = append(parts, c)
	}
	if matching > 0 && matching < len(parts) {
		return condition{}, status.Errorf(status.BadValue, "$all/$elemMatch has to be consistent")
	}
	if len(parts) == 0 { // an empty list matches nothing
		return condition{test: &oneOf{}, open: true}, nil
	}
	return condition{parts: parts}, nil
}

func (p *parser) elemMatch(path string, v bson.RawValue) (test, error) {
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(status.BadValue, "$elemMatch needs an Object")
	}
	inner := parser{env: p.env, inside: true, depth: p.depth + 1}
	name, _ := value.First(v.Value)
	if isOperators(v) && name != "$and" && name != "$or" && name != "$nor" && name != "$where" && name != "$expr" {
		c, err := inner.operators(path, v.Value)
		if err != nil {
			return nil, err
		}
		return elementValue{c.element()}, nil
	}
	n, err := inner.filter(v.Value)
	if err != nil {
		return nil, err
	}
	return elementDocument{n}, nil
}
