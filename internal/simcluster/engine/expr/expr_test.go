package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

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
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return value.Field(raw, "v")
}

func newTestEnv(t *testing.T) *Env {
	return &Env{
		Now:         time.Date(2024, 2, 29, 13, 14, 15, 167e6, time.UTC),
		ClusterTime: bson.Timestamp{T: 5, I: 6},
		Vars:        map[string]bson.RawValue{"u": parse(t, `{'a': 7}`), "gone": {}},
		Rand:        func() float64 { return 0.25 },
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
		if len(part) != 3 {
			t.Fatalf("bad line %q", line)
		}
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
		                                      | {'$add': [], '$b': 1} | !15983: An object representing an expression must have exactly one field: { $add: [], $b: 1 }
		                                      | {'a': 1, '$b': 1} | !16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.
	`)
}

func TestUndefinedVariablesFailOnlyWhenEvaluated(t *testing.T) {
	e, err := Compile(parse(t, "'$$late'"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Eval(nil, nil); err == nil {
		t.Error("an undefined variable evaluated")
	}
	v, err := e.Eval(nil, &Env{Vars: map[string]bson.RawValue{"late": value.Int32(1)}})
	if err != nil || v.Int32() != 1 {
		t.Error(v, err)
	}
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
		         | {'$cond': {'if': 1, 'x': 2}} | !17083: Unrecognized parameter to $cond: x
		'b': 2   | {'$ifNull': ['$a', '$c', '$b', 9]} | 2
		'a': null| {'$ifNull': ['$a', '$b']} |
		         | {'$ifNull': [1]}      | !1257300: $ifNull needs at least two arguments, had: 1
		'a': 2   | {'$switch': {'branches': [{'case': {'$eq': ['$a', 1]}, 'then': 'one'}, {'case': {'$eq': ['$a', 2]}, 'then': 'two'}]}} | 'two'
		         | {'$switch': {'branches': [{'case': false, 'then': 1}], 'default': 7}} | 7
		         | {'$switch': {'branches': [{'case': false, 'then': 1}]}} | !40066: $switch could not find a matching branch for an input, and no default was specified.
		         | {'$switch': {'branches': []}} | !40068: $switch requires at least one branch.
	`)
}

func TestArithmeticOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		         | {'$add': [1, 2]}                     | 3
		         | {'$add': []}                         | 0
		         | {'$add': [1, 2.5]}                   | 3.5
		         | {'$add': [2147483647, 1]}            | {'$numberLong': '2147483648'}
		         | {'$add': [{'$numberLong': '9223372036854775807'}, 1]} | 9.223372036854775808e18
		         | {'$add': [1, {'$numberDecimal': '0.1'}]} | {'$numberDecimal': '1.1'}
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
		         | {'$divide': [{'$numberDecimal': '1'}, 4]} | {'$numberDecimal': '0.25'}
		         | {'$mod': [-7, 3]}                    | -1
		         | {'$mod': [7.5, 2]}                   | 1.5
		         | {'$mod': [7, 0]}                     | !16610: can't $mod by zero
		         | {'$abs': -3}                         | 3
		         | {'$abs': -3.5}                       | 3.5
		         | {'$abs': '$x'}                       | null
		         | {'$abs': 'a'}                        | !28765: $abs only supports numeric types, not string
		         | {'$ceil': 1.2}                       | 2.0
		         | {'$floor': -1.2}                     | -2.0
		         | {'$ceil': 3}                         | 3
		         | {'$round': [2.5]}                    | 2.0
		         | {'$round': [3.5]}                    | 4.0
		         | {'$round': [1.2345, 2]}              | 1.23
		         | {'$round': [2.675, 2]}               | 2.67
		         | {'$round': [1250, -2]}               | 1200
		         | {'$trunc': [-1.99]}                  | -1.0
		         | {'$trunc': [1.999, 1]}               | 1.9
		         | {'$round': [1, 101]}                 | !51083: cannot apply $round with precision value 101 value must be in [-20, 100]
		         | {'$pow': [2, 10]}                    | 1024
		         | {'$sqrt': 16}                        | 4.0
		'a': [1, 2, 'x', 3.5] | {'$sum': '$a'}          | 6.5
		'a': [1, 2, 3] | {'$avg': '$a'}                 | 2.0
		'a': [] | {'$avg': '$a'}                        | null
		'a': [3, 1, null, 2] | {'$min': '$a'}           | 1
		         | {'$max': [3, 'a', '$x']}             | 'a'
		         | {'$sum': [1, [5], 2]}                | 3
		         | {'$rand': {}}                        | 0.25
	`)
}

func TestStringOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		'a': 'x' | {'$concat': ['$a', '-', 'y']}        | 'x-y'
		         | {'$concat': ['a', '$x']}             | null
		         | {'$concat': ['a', 1]}                | !16702: $concat only supports strings, not int
		         | {'$toUpper': 'aé'}                   | 'Aé'
		         | {'$toLower': null}                   | ''
		         | {'$toLower': [true]}                 | !16007: can't convert from BSON type bool to String
		         | {'$strLenCP': 'né'}                  | 2
		         | {'$strLenBytes': 'né'}               | 3
		         | {'$strLenCP': '$x'}                  | !34471: $strLenCP requires a string argument, found: missing
		         | {'$substrBytes': ['hello', 1, 3]}    | 'ell'
		         | {'$substrBytes': ['hello', 2, -1]}   | 'llo'
		         | {'$substrBytes': ['né', 2, 1]}       | !28656: $substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.
		         | {'$substrCP': ['néo', 1, 5]}         | 'éo'
		         | {'$substrCP': ['abc', 0, -1]}        | !34454: $substrCP: length must be a nonnegative integer.
		         | {'$split': ['a,b,c', ',']}           | ['a', 'b', 'c']
		         | {'$split': ['a', '']}                | !40087: $split requires a non-empty separator
		         | {'$split': [null, ',']}              | null
		         | {'$indexOfBytes': ['cafeteria', 'e']} | 3
		         | {'$indexOfCP': ['éab', 'b']}         | 2
		         | {'$indexOfCP': ['abc', 'c', 0, 2]}   | -1
		         | {'$indexOfCP': [null, 'c']}          | null
		         | {'$indexOfBytes': ['abc', 'c', -1]}  | !40097: $indexOfBytes requires a nonnegative starting index, found: -1
		         | {'$trim': {'input': '  a '}}         | 'a'
		         | {'$replaceAll': {'input': 'aba', 'find': 'a', 'replacement': 'c'}} | 'cbc'
		         | {'$regexMatch': {'input': 'Hello', 'regex': '^h', 'options': 'i'}} | true
		         | {'$regexMatch': {'input': '$x', 'regex': 'a'}} | false
		         | {'$regexMatch': {'input': 'ab', 'regex': {'$regularExpression': {'pattern': 'B', 'options': 'i'}}}} | true
		         | {'$regexMatch': {'input': 1, 'regex': 'a'}} | !51104: $regexMatch needs 'input' to be of type string
		         | {'$regexFind': {'input': 'éab', 'regex': '(a)(c)?'}} | {'match': 'a', 'idx': 1, 'captures': ['a', null]}
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
		'a': [1, 2, 3] | {'$slice': ['$a', 2]}          | [1, 2]
		'a': [1, 2, 3] | {'$slice': ['$a', -2]}         | [2, 3]
		'a': [1, 2, 3] | {'$slice': ['$a', 1, 1]}       | [2]
		'a': [1, 2, 3] | {'$slice': ['$a', -5, 2]}      | [1, 2]
		'a': [1, 2, 3] | {'$slice': ['$a', 1, 0]}       | !28729: Third argument to $slice must be positive: 0
		'a': [1, 2, 3] | {'$filter': {'input': '$a', 'as': 'n', 'cond': {'$gt': ['$$n', 1]}}} | [2, 3]
		'a': [1, 2] | {'$filter': {'input': '$a', 'cond': {'$eq': ['$$this', 1]}}} | [1]
		         | {'$filter': {'input': '$a', 'cond': 1}} | null
		         | {'$filter': {'input': 1, 'cond': 1}} | !28651: input to $filter must be an array not int
		'a': [{'b': 1}, 2] | {'$map': {'input': '$a', 'in': '$$this.b'}} | [1, null]
		         | {'$map': {'input': 1, 'in': 1}}      | !16883: input to $map must be an array not int
		         | {'$map': {'input': [1]}}             | !16882: Missing 'in' parameter to $map
		         | {'$map': {'input': [1], 'as': 'N', 'in': 1}} | !9: 'N' starts with an invalid character for a user variable name
		'a': [1, 2] | {'$map': {'input': '$a', 'as': 'x', 'in': {'$map': {'input': '$a', 'as': 'y', 'in': {'$multiply': ['$$x', '$$y']}}}}} | [[1, 2], [2, 4]]
		         | {'$reduce': {'input': ['a', 'b'], 'initialValue': '', 'in': {'$concat': ['$$value', '$$this']}}} | 'ab'
		         | {'$reduce': {'input': null, 'initialValue': '', 'in': 1}} | null
		         | {'$concatArrays': [[1], [2, 3]]}     | [1, 2, 3]
		         | {'$concatArrays': [[1], null]}       | null
		         | {'$concatArrays': [[1], 2]}          | !28664: $concatArrays only supports arrays, not int
		         | {'$isArray': [[1]]}                  | true
		         | {'$isArray': '$x'}                   | false
		         | {'$reverseArray': {'$literal': [1, 2]}} | [2, 1]
		         | {'$range': [0, 6, 2]}                | [0, 2, 4]
		         | {'$range': [3, 0, -1]}               | [3, 2, 1]
		         | {'$range': [0, 1, 0]}                | !34449: $range requires a non-zero step value
		         | {'$setUnion': [[3, 1], [1, 2]]}      | [1, 2, 3]
		         | {'$setIntersection': [[3, 1, 1], [1, 2, 3]]} | [1, 3]
		         | {'$setDifference': [[3, 1, 3], [1]]} | [3]
		         | {'$setIsSubset': [[1], [1, 2]]}      | true
		         | {'$setUnion': [[1], 2]}              | !17043: All operands of $setUnion must be arrays. One argument is of type: int
		         | {'$setUnion': [[1], null]}           | null
		         | {'$anyElementTrue': [[0, null, 1]]}  | true
		         | {'$anyElementTrue': [[]]}            | false
		         | {'$allElementsTrue': [[1, false]]}   | false
		         | {'$indexOfArray': [[1, 2], 2]}       | 1
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
		         | {'$arrayToObject': {'$literal': [['a', 1], ['b', 2], ['a', 3]]}} | {'a': 3, 'b': 2}
		         | {'$arrayToObject': {'$literal': [{'k': 'a', 'v': 1}]}} | {'a': 1}
		         | {'$arrayToObject': [[['a']]]}        | !40397: $arrayToObject requires an array of size 2 arrays,found array of size: 1
		'a': {'x': 1, 'y': 2} | {'$mergeObjects': ['$a', null, {'x': 5, 'z': 3}]} | {'x': 5, 'y': 2, 'z': 3}
		         | {'$mergeObjects': [1]}               | !40400: $mergeObjects requires object inputs, but input 1 is of type int
		         | {'$bsonSize': {}}                    | 5
		'a': 1   | {'$bsonSize': '$$ROOT'}              | 12
		         | {'$bsonSize': '$x'}                  | null
		         | {'$bsonSize': 1}                     | !31393: $bsonSize requires a document input, found: int
		         | {'$binarySize': 'né'}                | 3
		         | {'$binarySize': {'$binary': {'base64': 'AAEC', 'subType': '00'}}} | 3
		'a.b': 1 | {'$getField': 'a.b'}                 | 1
		'a': {'b.c': 2} | {'$getField': {'field': 'b.c', 'input': '$a'}} | 2
		'$a': 3  | {'$getField': {'$literal': '$a'}}    | 3
		'a': 1   | {'$setField': {'field': 'b.c', 'input': '$$ROOT', 'value': 2}} | {'a': 1, 'b.c': 2}
		'a': 1, 'b': 2 | {'$unsetField': {'field': 'a', 'input': '$$ROOT'}} | {'b': 2}
		'a': 3   | {'$let': {'vars': {'x': '$a', 'y': 2}, 'in': {'$add': ['$$x', '$$y']}}} | 5
		'a': {'b': 4} | {'$let': {'vars': {'CURRENT': '$a'}, 'in': '$b'}} | 4
		         | {'$let': {'vars': {'x': {'$let': {'vars': {'p': 1, 'q': 2}, 'in': '$$q'}}, 'y': 5}, 'in': ['$$x', '$$y']}} | [2, 5]
		         | {'$let': {'vars': {'x': 1, 'y': '$$x'}, 'in': 1}} | !17276: Use of undefined variable: x
	`)
}

func TestTypeAndConversionOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		         | {'$type': '$x'}                      | 'missing'
		         | {'$type': {'$numberLong': '1'}}      | 'long'
		         | {'$type': [[1]]}                     | 'array'
		         | {'$isNumber': 1.5}                   | true
		         | {'$isNumber': 'a'}                   | false
		         | {'$toInt': '12'}                     | 12
		         | {'$toInt': 1.9}                      | 1
		         | {'$toInt': 'abc'}                    | !241: Failed to parse number 'abc' in $convert with no onError value: Did not consume any digits
		         | {'$toInt': '12x'}                    | !241: Failed to parse number '12x' in $convert with no onError value: Did not consume whole string.
		         | {'$toInt': {'$numberLong': '3000000000'}} | !241: Conversion would overflow target type in $convert with no onError value: 3000000000
		         | {'$toLong': true}                    | {'$numberLong': '1'}
		         | {'$toLong': '$$NOW'}                 | {'$numberLong': '1709212455167'}
		         | {'$toDouble': '1.5'}                 | 1.5
		         | {'$toDouble': null}                  | null
		         | {'$toString': 1.0}                   | '1'
		         | {'$toString': {'$oid': '6b01bc2b913c04e068f624cb'}} | '6b01bc2b913c04e068f624cb'
		         | {'$toString': '$$NOW'}               | '2024-02-29T13:14:15.167Z'
		         | {'$toString': [[1]]}                 | !241: Unsupported conversion from array to string in $convert with no onError value
		         | {'$toBool': 'false'}                 | true
		         | {'$toBool': 0.0}                     | false
		         | {'$toObjectId': '6b01bc2b913c04e068f624cb'} | {'$oid': '6b01bc2b913c04e068f624cb'}
		         | {'$toObjectId': 'x'}                 | !241: Failed to parse objectId 'x' in $convert with no onError value: Invalid string length for parsing to OID, expected 24 but found 1
		         | {'$toDate': {'$oid': '65e0835000000000000000ff'}} | {'$date': '2024-02-29T13:14:56Z'}
		         | {'$toDate': '2024-01-02'}            | {'$date': '2024-01-02T00:00:00Z'}
		         | {'$toDate': {'$numberLong': '1000'}} | {'$date': '1970-01-01T00:00:01Z'}
		         | {'$convert': {'input': 'x', 'to': 'int', 'onError': 'bad'}} | 'bad'
		         | {'$convert': {'input': '$x', 'to': 'int', 'onNull': 0}} | 0
		         | {'$convert': {'input': '7', 'to': 18}} | {'$numberLong': '7'}
		         | {'$convert': {'input': '7', 'to': 'nope', 'onError': 1}} | !2: Unknown type name: nope
		         | {'$toHashedIndexKey': {'$numberInt': '1'}} | {'$numberLong': '5902408780260971510'}
	`)
}

func TestDateOperatorsEvaluate(t *testing.T) {
	checkExpressions(t, `
		         | {'$year': '$$NOW'}                   | 2024
		         | {'$month': '$$NOW'}                  | 2
		         | {'$dayOfMonth': '$$NOW'}             | 29
		         | {'$dayOfWeek': '$$NOW'}              | 5
		         | {'$dayOfYear': '$$NOW'}              | 60
		         | {'$hour': {'date': '$$NOW', 'timezone': '+0530'}} | 18
		         | {'$minute': '$$NOW'}                 | 14
		         | {'$second': '$$NOW'}                 | 15
		         | {'$millisecond': '$$NOW'}            | 167
		         | {'$isoWeek': '$$NOW'}                | 9
		         | {'$week': '$$NOW'}                   | 8
		         | {'$year': '$x'}                      | null
		         | {'$year': 'x'}                       | !16006: can't convert from BSON type string to Date
		         | {'$dateToString': {'date': '$$NOW'}} | '2024-02-29T13:14:15.167Z'
		         | {'$dateToString': {'date': '$$NOW', 'format': '%d/%m/%Y %H:%M:%S %j%%'}} | '29/02/2024 13:14:15 060%'
		         | {'$dateToString': {'date': '$$NOW', 'format': '%Q'}} | !18536: Invalid format character '%Q' in format string
		         | {'$dateToString': {'date': '$x', 'onNull': '-'}} | '-'
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'hour'}} | {'$date': '2024-02-29T13:00:00Z'}
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'minute', 'binSize': 5}} | {'$date': '2024-02-29T13:10:00Z'}
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'day'}} | {'$date': '2024-02-29T00:00:00Z'}
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'week'}} | {'$date': '2024-02-25T00:00:00Z'}
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'week', 'startOfWeek': 'mon'}} | {'$date': '2024-02-26T00:00:00Z'}
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'month'}} | {'$date': '2024-02-01T00:00:00Z'}
		         | {'$dateTrunc': {'date': '$$NOW', 'unit': 'year'}} | {'$date': '2024-01-01T00:00:00Z'}
		         | {'$dateAdd': {'startDate': '$$NOW', 'unit': 'year', 'amount': 1}} | {'$date': '2025-02-28T13:14:15.167Z'}
		         | {'$dateSubtract': {'startDate': '$$NOW', 'unit': 'hour', 'amount': 14}} | {'$date': '2024-02-28T23:14:15.167Z'}
		         | {'$dateAdd': {'startDate': '$x', 'unit': 'day', 'amount': 1}} | null
		         | {'$dateDiff': {'startDate': {'$date': '2024-01-31T23:00:00Z'}, 'endDate': '$$NOW', 'unit': 'month'}} | {'$numberLong': '1'}
		         | {'$dateFromString': {'dateString': '2024-02-03T04:05:06Z'}} | {'$date': '2024-02-03T04:05:06Z'}
	`)
}
