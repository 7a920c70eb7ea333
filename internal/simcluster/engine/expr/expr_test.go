package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// parse reads relaxed Extended JSON with single quotes.
func parse(t *testing.T, text string) bson.RawValue {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+strings.ReplaceAll(text, "'", `"`)+`}`), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	raw := must.Get(bson.Marshal(d))
	return value.Field(raw, "v")
}

func newTestEnv(t *testing.T) *Env {
	return &Env{
		Now:         time.Date(2024, 2, 29, 13, 14, 15, 167e6, time.UTC),
		ClusterTime: bson.Timestamp{T: 5, I: 6},
		Vars:        map[string]bson.RawValue{"u": parse(t, `{'a': 7}`), "gone": {}},
	}
}

// describeResult formats a result so that its type is visible: Extended JSON, "" for
// missing, or "code: message".
func describeResult(v bson.RawValue, err error) string {
	if e, ok := errors.AsType[*status.Error](err); ok {
		return fmt.Sprintf("%d: %s", e.Code, e.Message)
	}
	if err != nil {
		return "?" + err.Error()
	}
	if v.Type == 0 {
		return ""
	}
	raw := value.NewBuilder(16).Append("v", v).Raw()
	text, err := bson.MarshalExtJSON(raw, true, false)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// checkExpressions runs lines of "document | expression | result" against the evaluator.
// A result is Extended JSON, nothing for missing, or "!code: message".
func checkExpressions(t *testing.T, lines string) {
	t.Helper()
	env := newTestEnv(t)
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		part := strings.SplitN(line, "|", 3)
		must.That(t, len(part) == 3, "bad line %q", line)
		doc := parse(t, "{"+strings.TrimSpace(part[0])+"}").Value
		e, err := env.Compile(parse(t, part[1]))
		var got bson.RawValue
		if err == nil {
			got, err = e.Eval(doc, env)
		}
		want := strings.TrimSpace(part[2])
		switch {
		case strings.HasPrefix(want, "!"):
			want = want[1:]
		case want != "":
			want = describeResult(parse(t, want), nil)
		}
		if s := describeResult(got, err); s != want {
			t.Errorf("%s\n got  %s\n want %s", line, s, want)
		}
	}
}

func TestFieldPathsAndVariablesEvaluate(t *testing.T) {
	checkExpressions(t, `
		'a': 1                                | '$a'            | 1
		'a': {'b': {'c': 2}}                  | '$a.b.c'        | 2
		'a': 1                                | '$b'            |
		'a': 1                                | '$a.b'          |
		'a': [{'b': 1}, 5, {'c': 2}, {'b': 3}]| '$a.b'          | [1, 3]
		'a': [[{'b': 1}], {'b': 2}]           | '$a.b'          | [[1], 2]
		'a': [1, 2]                           | '$a.0'          | []
		'a': 1                                | '$$ROOT'        | {'a': 1}
		'a': 1                                | '$$CURRENT.a'   | 1
		                                      | '$$NOW'         | {'$date': '2024-02-29T13:14:15.167Z'}
		                                      | '$$CLUSTER_TIME'| {'$timestamp': {'t': 5, 'i': 6}}
		                                      | '$$REMOVE'      |
		                                      | '$$u.a'         | 7
		                                      | '$$gone'        |
		                                      | '$$nope'        | !17276: Use of undefined variable: nope
		                                      | '$'             | !16872: '$' by itself is not a valid FieldPath
		                                      | '$a.'           | !40353: FieldPath must not end with a '.'.
		                                      | '$a..b'         | !15998: FieldPath field names may not be empty strings.
		                                      | 'text'          | 'text'
		'a': 1                                | {'x': '$a', 'y': '$b', 'z': {'w': '$a'}} | {'x': 1, 'z': {'w': 1}}
		'a': 1                                | ['$a', '$b', 3] | [1, null, 3]
		                                      | {}              | {}
		                                      | {'$literal': '$a'} | '$a'
		                                      | {'$foo': 1}     | !168: Unrecognized expression '$foo'
		                                      | {'$toUpper': 'a'} | !168: Unrecognized expression '$toUpper'
	`)
}

func TestComparisonAndLogicOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		'a': 1   | {'$eq': ['$a', 1.0]}  | true
		'a': 1   | {'$ne': ['$a', '1']}  | true
		'a': 1   | {'$gt': ['$a', null]} | true
		         | {'$lt': ['$a', null]} | true
		         | {'$eq': ['$a', null]} | false
		'a': 2   | {'$gte': ['$a', 2]}   | true
		'a': 2   | {'$lte': ['$a', 1]}   | false
		'a': 2   | {'$cmp': ['$a', 3]}   | -1
		         | {'$eq': [1]}          | !16020: Expression $eq takes exactly 2 arguments. 1 were passed in.
		'a': 0   | {'$and': ['$a', {'$divide': [1, 0]}]} | false
		         | {'$and': []}          | true
		         | {'$or': []}           | false
		'a': ''  | {'$or': [0, null, '$a']} | true
		         | {'$not': ['$x']}      | true
		         | {'$not': [[]]}        | false
		'a': 5   | {'$cond': [{'$gt': ['$a', 3]}, 'big', 'small']} | 'big'
		'a': 1   | {'$cond': {'if': '$b', 'then': 1, 'else': '$a'}} | 1
		         | {'$cond': {'if': 1, 'then': 2}} | !17082: Missing 'else' parameter to $cond
		'b': 2   | {'$ifNull': ['$a', '$c', '$b', 9]} | 2
		'a': null| {'$ifNull': ['$a', '$b']} |
		         | {'$ifNull': [1]}      | !1257300: $ifNull needs at least two arguments, had: 1
	`)
}

func TestArithmeticOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		         | {'$add': [1, 2]}                     | 3
		         | {'$add': []}                         | 0
		         | {'$add': [1, 2.5]}                   | 3.5
		         | {'$add': [2147483647, 1]}            | {'$numberLong': '2147483648'}
		         | {'$add': [{'$numberLong': '9223372036854775807'}, 1]} | 9.223372036854775808e18
		         | {'$add': [1, {'$numberDecimal': '0.1'}]} | 1.1
		         | {'$add': [1, null]}                  | null
		         | {'$add': [1, '$x']}                  | null
		         | {'$add': ['$$NOW', {'$numberLong': '15000'}]} | {'$date': '2024-02-29T13:14:30.167Z'}
		         | {'$add': ['$$NOW', '$$NOW']}         | !16612: only one date allowed in an $add expression
		         | {'$add': ['a', 1]}                   | !14: $add only supports numeric or date types, not string
		         | {'$subtract': [5, 7]}                | -2
		         | {'$subtract': ['$$NOW', '$$NOW']}    | {'$numberLong': '0'}
		         | {'$subtract': ['$$NOW', 167]}        | {'$date': '2024-02-29T13:14:15Z'}
		         | {'$subtract': [1, 'a']}              | !14: can't $subtract string from int
		         | {'$multiply': [3, 4]}                | 12
		         | {'$multiply': [65536, 65536]}        | {'$numberLong': '4294967296'}
		         | {'$multiply': [2, 0.5]}              | 1.0
		         | {'$divide': [6, 3]}                  | 2.0
		         | {'$divide': [1, 0]}                  | !2: can't $divide by zero
		         | {'$divide': [1, null]}               | null
		         | {'$divide': [{'$numberDecimal': '1'}, 4]} | 0.25
		         | {'$mod': [-7, 3]}             | -1
		         | {'$mod': [7, {'$numberLong': '4'}]} | {'$numberLong': '3'}
		         | {'$mod': [7.5, 2]}            | 1.5
		         | {'$mod': [1, 0]}              | !16610: can't $mod by zero
		'a': [1, 2, 'x', 3.5] | {'$sum': '$a'}          | 6.5
		'a': [1, 2, 3] | {'$avg': '$a'}                 | 2.0
		'a': [] | {'$avg': '$a'}                        | null
		'a': [3, 1, null, 2] | {'$min': '$a'}           | 1
		         | {'$max': [3, 'a', '$x']}             | 'a'
		         | {'$sum': [1, [5], 2]}                | 3
	`)
}

func TestArrayOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		'a': [1, 2] | {'$size': '$a'}                   | 2
		         | {'$size': '$a'}                      | !17124: The argument to $size must be an array, but was of type: missing
		'a': [1, 2] | {'$in': [2.0, '$a']}              | true
		         | {'$in': [1, '$a']}                   | !40081: $in requires an array as a second argument, found: missing
		'a': [1, 2] | {'$arrayElemAt': ['$a', -1]}      | 2
		'a': [1, 2] | {'$arrayElemAt': ['$a', 2]}       |
		         | {'$arrayElemAt': ['$a', 0]}          | null
		         | {'$arrayElemAt': [1, 0]}             | !28689: $arrayElemAt's first argument must be an array, but is int
		'a': [1, 2] | {'$first': '$a'}                  | 1
		'a': [1, 2] | {'$last': '$a'}                   | 2
		'a': []  | {'$last': '$a'}                      |
		'a': [1, 2, 3] | {'$filter': {'input': '$a', 'as': 'n', 'cond': {'$gt': ['$$n', 1]}}} | [2, 3]
		'a': [1, 2] | {'$filter': {'input': '$a', 'cond': {'$eq': ['$$this', 1]}}} | [1]
		         | {'$filter': {'input': '$a', 'cond': 1}} | null
		         | {'$filter': {'input': 1, 'cond': 1}} | !28651: input to $filter must be an array not int
		'a': [{'b': 1}, 2] | {'$map': {'input': '$a', 'in': '$$this.b'}} | [1, null]
		         | {'$map': {'input': 1, 'in': 1}}      | !16883: input to $map must be an array not int
		         | {'$map': {'input': [1]}}             | !16882: Missing 'in' parameter to $map
		'a': [1, 2] | {'$map': {'input': '$a', 'as': 'x', 'in': {'$map': {'input': '$a', 'as': 'y', 'in': {'$multiply': ['$$x', '$$y']}}}}} | [[1, 2], [2, 4]]
		         | {'$concatArrays': [[1], [2, 3]]}     | [1, 2, 3]
		         | {'$concatArrays': [[1], null]}       | null
		         | {'$concatArrays': [[1], 2]}          | !28664: $concatArrays only supports arrays, not int
		         | {'$isArray': [[1]]}                  | true
		         | {'$isArray': '$x'}                   | false
		         | {'$anyElementTrue': [[0, null, 1]]}  | true
		         | {'$anyElementTrue': [[]]}            | false
		         | {'$allElementsTrue': [[1, false]]}   | false
	`)
}

// The filter with which Yorkie deactivates clients.
func TestAnyElementTrueMatchesElementsOfObjects(t *testing.T) {
	const e = `{'$not': {'$anyElementTrue': {'$map': {'input': {'$ifNull': [{'$objectToArray': '$documents'}, []]}, 'as': 'doc', 'in': {'$in': ['$$doc.v.status', ['attaching', 'attached']]}}}}}`
	checkExpressions(t, `
		| `+e+` | true
		'documents': {'a': {'status': 'detached'}} | `+e+` | true
		'documents': {'a': {'status': 'detached'}, 'b': {'status': 'attached'}} | `+e+` | false
	`)
}

func TestObjectOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		'a': {'x': 1, 'y': 2} | {'$objectToArray': '$a'} | [{'k': 'x', 'v': 1}, {'k': 'y', 'v': 2}]
		         | {'$objectToArray': '$a'}             | null
		         | {'$objectToArray': [1]}              | !40390: $objectToArray requires a document input, found: int
		'a': {'x': 1, 'y': 2} | {'$mergeObjects': ['$a', null, {'x': 5, 'z': 3}]} | {'x': 5, 'y': 2, 'z': 3}
		         | {'$mergeObjects': [1]}               | !40400: $mergeObjects requires object inputs, but input 1 is of type int
		         | {'$bsonSize': {}}                    | 5
		'a': 1   | {'$bsonSize': '$$ROOT'}              | 12
		         | {'$bsonSize': '$x'}                  | null
		         | {'$bsonSize': 1}                     | !31393: $bsonSize requires a document input, found: int
	`)
}

func TestTypeAndConversionOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		         | {'$type': '$x'}                      | 'missing'
		         | {'$type': {'$numberLong': '1'}}      | 'long'
		         | {'$type': [[1]]}                     | 'array'
		         | {'$toHashedIndexKey': {'$numberInt': '1'}} | {'$numberLong': '5902408780260971510'}
	`)
}

func TestEqualitiesOfAnExpressionAreFound(t *testing.T) {
	env := newTestEnv(t)
	for text, want := range map[string]string{
		`{'$eq': ['$uuid', '$$u.a']}`: "uuid=7 ",
		`{'$eq': [3, '$a.b']}`:        "a.b=3 ",
		`{'$and': [{'$eq': ['$a', 1]}, {'$gt': ['$b', 2]}, {'$eq': ['$c', 'x']}]}`: `a=1 c="x" `,
		`{'$or': [{'$eq': ['$a', 1]}]}`:                                            "",
		`{'$eq': ['$a', '$b']}`:                                                    "",
		`{'$eq': ['$a', null]}`:                                                    "",
		`{'$eq': ['$a', '$$gone']}`:                                                "",
		`{'$eq': ['$a', [1]]}`:                                                     "",
		`{'$gt': ['$a', 1]}`:                                                       "",
		`{'$eq': ['$a', {'$add': [1]}]}`:                                           "",
	} {
		e, err := env.Compile(parse(t, text))
		must.Do(t, err)
		got := ""
		for _, q := range e.Equalities(env) {
			got += q.Path + "=" + Text(q.Value) + " "
		}
		expect.Equal(t, got, want, "%s", text)
	}
}

// Every operator with every kind of operand returns a value or an error and never
// panics.
func TestNoOperatorPanics(t *testing.T) {
	names := []string{"$add", "$subtract", "$multiply", "$divide", "$sum", "$avg", "$min", "$max", "$size", "$in", "$arrayElemAt",
		"$first", "$last", "$concatArrays", "$isArray", "$anyElementTrue", "$allElementsTrue", "$mergeObjects", "$objectToArray",
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
						expect.NoError(t, v.Validate(), "%s of %v", name, env.Vars)
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
