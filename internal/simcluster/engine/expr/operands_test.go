package expr

import (
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Every operator with every kind of operand returns a value or an error and never
// panics.
func TestNoOperatorPanics(t *testing.T) {
	names := []string{"$add", "$subtract", "$divide", "$size", "$in",
		"$concatArrays", "$anyElementTrue", "$objectToArray",
		"$bsonSize", "$type", "$cmp", "$ifNull", "$cond", "$not", "$toHashedIndexKey"}
	samples := parse(t, `[null, true, 0, -3, 2.5, {'$numberDouble': 'NaN'}, {'$numberDouble': '-Infinity'}, {'$numberLong': '-9223372036854775808'},
		{'$numberDecimal': '1.25'}, {'$numberDecimal': 'NaN'}, '', 'é12', [], [1, [2], null], {}, {'k': 'a', 'v': 1}, {'$date': '2024-01-01T00:00:00Z'},
		{'$oid': '6b01bc2b913c04e068f624cb'}, {'$timestamp': {'t': 1, 'i': 2}}, {'$binary': {'base64': '', 'subType': '00'}},
		{'$regularExpression': {'pattern': 'a', 'options': 'i'}}, {'$minKey': 1}, {'$undefined': true}]`)
	operands := append([]bson.RawValue{{}}, slices.Collect(value.Items(samples))...)
	for _, name := range names {
		for n := 1; n <= 3; n++ {
			// The operands are variables, so that they are values, not expressions.
			refs := value.NewBuilder(64)
			for i := range n {
				refs.Push(value.String(fmt.Sprintf("$$v%d", i)))
			}
			env := &Env{Vars: map[string]bson.RawValue{"v0": {}, "v1": {}, "v2": {}}}
			e, err := env.Compile(value.Doc(value.NewBuilder(64).Append(name, arrayValue(refs)).Raw()))
			if err != nil {
				continue // not with that many operands
			}
			step := 1
			if n == 3 {
				step = 3
			}
			var try func(i int)
			try = func(i int) {
				if i == n {
					if v, err := e.Eval(nil, env); err == nil && v.Type != 0 {
						if err := v.Validate(); err != nil {
							t.Errorf("%s of %v: %v", name, env.Vars, err)
						}
					}
					return
				}
				for s := 0; s < len(operands); s += step {
					env.Vars[fmt.Sprintf("v%d", i)] = operands[s]
					try(i + 1)
				}
			}
			try(0)
		}
	}
}
