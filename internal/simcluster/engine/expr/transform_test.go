package expr

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// checkTransforms runs lines of "document | stage | document".
func checkTransforms(t *testing.T, lines string) {
	t.Helper()
	env := newTestEnv(t)
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		part := strings.SplitN(line, "|", 3)
		tr, ok, err := env.CompileTransform(parse(t, part[1]).Value)
		must.That(t, ok || err != nil, "%s: not a transform", line)
		var got bson.Raw
		if err == nil {
			got, err = tr.Apply(parse(t, part[0]).Value, env)
		}
		s := describeResult(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: got}, err)
		want := strings.TrimSpace(part[2])
		if strings.HasPrefix(want, "!") {
			want = want[1:]
		} else {
			want = describeResult(parse(t, want), nil)
		}
		expect.That(t, s == want, "%s\n got  %s\n want %s", line, s, want)
	}
}

func TestSetReplacesInPlaceAndAppends(t *testing.T) {
	checkTransforms(t, `
		{'a': 1, 'b': 2}           | {'$set': {'a': '$b', 'b': '$a', 'c': 3}} | {'a': 2, 'b': 1, 'c': 3}
		{'a': {'x': 1}}            | {'$addFields': {'a.y': 2}}               | {'a': {'x': 1, 'y': 2}}
		{'a': {'x': 1}}            | {'$addFields': {'a': {'y': 2}}}          | {'a': {'x': 1, 'y': 2}}
		{'a': [{'x': 1}, {}]}      | {'$set': {'a.y': 2}}                     | {'a': [{'x': 1, 'y': 2}, {'y': 2}]}
		{'a': 5}                   | {'$set': {'a.y': 2}}                     | {'a': {'y': 2}}
		{}                         | {'$set': {'a.b.c': 2}}                   | {'a': {'b': {'c': 2}}}
		{'a': 1, 'b': 2}           | {'$set': {'a': '$$REMOVE'}}              | {'b': 2}
		{'a': 1}                   | {'$set': {'b': '$missing'}}              | {'a': 1}
		{'_id': 1}                 | {'$set': {'t': '$$NOW', 'e': {'$add': ['$$NOW', {'$numberLong': '15000'}]}}} | {'_id': 1, 't': {'$date': '2024-02-29T13:14:15.167Z'}, 'e': {'$date': '2024-02-29T13:14:30.167Z'}}
		{}                         | {'$set': {'a': 1, 'a.b': 2}}             | !31249: Invalid $set :: caused by :: Path collision at a.b remaining portion b
		{}                         | {'$set': {}}                             | !40177: Invalid $set :: caused by :: specification must have at least one field
		{}                         | {'$set': {'a': {'$foo': 1}}}             | !168: Invalid $set :: caused by :: Unrecognized expression '$foo'
		{}                         | {'$set': 1}                              | !40272: $set specification stage must be an object, got int
	`)
}

func TestUnsetRemovesFields(t *testing.T) {
	checkTransforms(t, `
		{'a': 1, 'b': 2}           | {'$unset': 'a'}            | {'b': 2}
		{'a': {'x': 1, 'y': 2}, 'b': 2} | {'$unset': ['a.x', 'b']} | {'a': {'y': 2}}
		{'a': [{'x': 1, 'y': 1}, 3]} | {'$unset': 'a.x'}        | {'a': [{'y': 1}, 3]}
		{}                         | {'$unset': 1}              | !31002: $unset specification must be a string or an array
	`)
}

func TestProjectIncludesExcludesAndComputes(t *testing.T) {
	checkTransforms(t, `
		{'_id': 1, 'a': 1, 'b': 2} | {'$project': {'b': 1}}             | {'_id': 1, 'b': 2}
		{'_id': 1, 'a': 1, 'b': 2} | {'$project': {'b': 1, '_id': 0}}   | {'b': 2}
		{'_id': 1, 'a': 1, 'b': 2} | {'$project': {'b': 0}}             | {'_id': 1, 'a': 1}
		{'_id': 1, 'a': 1}         | {'$project': {'_id': 0}}           | {'a': 1}
		{'_id': 1, 'a': 1}         | {'$project': {'_id': 1}}           | {'_id': 1}
		{'_id': 1, 'b': 2, 'a': 1} | {'$project': {'a': 1, 'b': 1}}     | {'_id': 1, 'b': 2, 'a': 1}
		{'_id': 1, 'a': 1}         | {'$project': {'x': '$a', 'a': true}} | {'_id': 1, 'a': 1, 'x': 1}
		{'_id': 'm', 'cnt': 3}     | {'$project': {'_id': 0, 'shard': '$_id', 'nChunks': '$cnt'}} | {'shard': 'm', 'nChunks': 3}
		{'_id': {'from': 'a'}, 'count': 3} | {'$project': {'_id': {'$ifNull': ['$_id.msg', 'aborted']}, 'from': '$_id.from', 'to': '$_id.to', 'count': '$count'}} | {'_id': 'aborted', 'from': 'a', 'count': 3}
		{'_id': 1, 'a': {'x': 1, 'y': 2}} | {'$project': {'a.x': 1}}    | {'_id': 1, 'a': {'x': 1}}
		{'_id': 1, 'a': {'x': 1, 'y': 2}} | {'$project': {'a': {'x': 1}}} | {'_id': 1, 'a': {'x': 1}}
		{'_id': 1, 'a': [{'x': 1, 'y': 2}, 7]} | {'$project': {'a.x': 1}} | {'_id': 1, 'a': [{'x': 1}]}
		{'_id': 1, 'a': 5}         | {'$project': {'a.x': 1}}           | {'_id': 1}
		{'_id': 1, 'a': {'x': 1, 'y': 2}} | {'$project': {'a.x': 0}}    | {'_id': 1, 'a': {'y': 2}}
		{'_id': 1, 'a': {'x': 1}}  | {'$project': {'a.z': '$a.x'}}      | {'_id': 1, 'a': {'z': 1}}
		{'_id': 1, 'a': 2}         | {'$project': {'n': {'$literal': 1}, 'l': ['$a', '$q']}} | {'_id': 1, 'n': 1, 'l': [2, null]}
		{'_id': 1, 'c': [1, 2]}    | {'$project': {'n': {'$size': '$c'}}} | {'_id': 1, 'n': 2}
		{}                         | {'$project': {}}                   | !51272: Invalid $project :: caused by :: projection specification must have at least one field
		{}                         | {'$project': {'a': 1, 'b': 0}}     | !31254: Invalid $project :: caused by :: Cannot do exclusion on field b in inclusion projection
		{}                         | {'$project': {'a': 0, 'b': 1}}     | !31253: Invalid $project :: caused by :: Cannot do inclusion on field b in exclusion projection
		{}                         | {'$project': {'a': 1, 'a.b': 1}}   | !31249: Invalid $project :: caused by :: Path collision at a.b remaining portion b
	`)
}

func TestStagesMustHaveExactlyOneField(t *testing.T) {
	if _, _, err := (&Env{}).CompileTransform(parse(t, `{'$set': {'a': 1}, '$unset': 'b'}`).Value); err == nil ||
		!strings.Contains(err.Error(), "exactly one field") {
		t.Errorf(`got %v, want an error, …"exactly one field"…`, err)
	}
}
