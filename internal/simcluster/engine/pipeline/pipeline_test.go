package pipeline

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// docsFrom reads an array of documents from relaxed Extended JSON with single quotes.
func docsFrom(t *testing.T, text string) []bson.Raw {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+strings.ReplaceAll(text, "'", `"`)+`}`), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	raw := must.Get(bson.Marshal(d))
	docs, err := List(value.Field(raw, "v"))
	must.Do(t, err)
	return docs
}

// fail is a stream that ends with an error at once.
func fail(err error) Docs {
	return func(yield func(bson.Raw, error) bool) { yield(nil, err) }
}

// describeDocuments collects a stream as canonical Extended JSON, or the error.
func describeDocuments(docs Docs, err error) string {
	var out []string
	if err == nil {
		for d, e := range docs {
			if err = e; err != nil {
				break
			}
			s, _ := bson.MarshalExtJSON(d, true, false)
			out = append(out, string(s))
		}
	}
	if e, ok := errors.AsType[*status.Error](err); ok {
		return fmt.Sprintf("!%d: %s", e.Code, e.Message)
	}
	if err != nil {
		return "?" + err.Error()
	}
	return "[" + strings.Join(out, ",") + "]"
}

// otherCollections is an Env that reads other collections with pipelines.
func otherCollections(t *testing.T) *Env {
	env := &Env{
		DB:   "db",
		Expr: expr.Env{Now: time.UnixMilli(0).UTC()},
		Rand: rand.New(rand.NewPCG(1, 2)),
		CollStats: func(spec bson.Raw) Docs {
			return Of(docsFrom(t, `[{'ns': 'db.c', 'shard': 's1', 'storageStats': {'count': 3}}]`)...)
		},
		CurrentOp: func(spec bson.Raw) Docs {
			return Of(docsFrom(t, `[{'shard': 's1', 'type': 'op', 'desc': 'conn1'}, {'shard': 's2', 'type': 'op', 'desc': 'migrateThread'}]`)...)
		},
	}
	colls := map[string][]bson.Raw{
		"chunks": docsFrom(t, `[{'_id': 1, 'uuid': 'A', 'lastmod': 5}, {'_id': 2, 'uuid': 'A', 'lastmod': 9}, {'_id': 3, 'uuid': 'B', 'lastmod': 4}, {'_id': 4, 'lastmod': 1}]`),
	}
	env.Lookup = func(db, coll string, stages []bson.Raw, vars map[string]bson.RawValue) Docs {
		inner := *env
		inner.Expr.Vars = vars
		docs, err := Run(stages, Of(colls[coll]...), &inner)
		if err != nil {
			return fail(err)
		}
		return docs
	}
	return env
}

// checkPipelines runs lines of "documents | stages | documents or !code: message". Every
// pipeline also runs split over two shards, each with half of the documents;
// the outcome must be the same.
func checkPipelines(t *testing.T, lines string) {
	t.Helper()
	env := otherCollections(t)
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		part := strings.SplitN(line, " | ", 3)
		docs, stages, want := docsFrom(t, part[0]), docsFrom(t, part[1]), strings.TrimSpace(part[2])
		if !strings.HasPrefix(want, "!") {
			want = describeDocuments(Of(docsFrom(t, want)...), nil)
		}
		if got := describeDocuments(Run(stages, Of(docs...), env)); got != want {
			t.Errorf("%s\n got  %s\n want %s", line, got, want)
		}
		if strings.HasPrefix(want, "!") {
			continue
		}
		if got := describeDocuments(runOnTwoShards(stages, docs, env)); got != want {
			t.Errorf("split %s\n got  %s\n want %s", line, got, want)
		}
	}
}

// runOnTwoShards runs a pipeline as a router with two shards does; the first shard has
// the first half of the documents.
func runOnTwoShards(stages, docs []bson.Raw, env *Env) (Docs, error) {
	parts := Split(stages)
	var shards []Docs
	half := (len(docs) + 1) / 2
	for _, own := range [][]bson.Raw{docs[:half], docs[half:]} {
		if parts.RouterOnly || parts.PerShard && len(shards) == 1 {
			break
		}
		out, err := Run(parts.Shard, Of(own...), env)
		if err != nil {
			return nil, err
		}
		shards = append(shards, out)
	}
	return parts.Combine(shards, env)
}

func TestSimpleStagesTransformDocuments(t *testing.T) {
	checkPipelines(t, `
		[{'a': 1}, {'a': 2}] | [] | [{'a': 1}, {'a': 2}]
		[{'a': 1}, {'a': 2}, {'a': 3}] | [{'$match': {'a': {'$gt': 1}}}, {'$limit': 1}] | [{'a': 2}]
		[{'a': 1}, {'a': 2}, {'a': 3}] | [{'$skip': 1}, {'$limit': 1}] | [{'a': 2}]
		[{'a': 1}, {'a': 2}, {'a': 3}] | [{'$skip': 2}] | [{'a': 3}]
		[{'a': 3}, {'a': 1}, {}, {'a': 'x'}] | [{'$sort': {'a': 1}}] | [{}, {'a': 1}, {'a': 3}, {'a': 'x'}]
		[{'a': 1, 'b': 1}, {'a': 2, 'b': 1}, {'a': 3, 'b': 0}] | [{'$sort': {'b': -1, 'a': -1}}, {'$limit': 2}] | [{'a': 2, 'b': 1}, {'a': 1, 'b': 1}]
		[{'a': 1}, {'a': 5}, {'a': 3}] | [{'$sort': {'a': -1}}, {'$skip': 1}, {'$limit': 1}] | [{'a': 3}]
		[{'a': 1}] | [{'$addFields': {'b': {'$add': ['$a', 1]}}}, {'$project': {'_id': 0, 'b': 1}}] | [{'b': 2}]
		[{'a': 1}] | [{'$unset': 'a'}] | [{}]
		[{'a': 1}, {'a': 2}] | [{'$count': 'n'}] | [{'n': 2}]
		[] | [{'$count': 'n'}] | []
	`)
}

func TestGroupAccumulatesByKey(t *testing.T) {
	checkPipelines(t, `
		[{'s': 'a'}, {'s': 'b'}, {'s': 'a'}] | [{'$group': {'_id': '$s', 'n': {'$sum': 1}}}] | [{'_id': 'a', 'n': 2}, {'_id': 'b', 'n': 1}]
		[{'s': 1}, {'s': 1.0}, {'s': {'$numberLong': '1'}}] | [{'$group': {'_id': '$s', 'n': {'$count': {}}}}] | [{'_id': 1, 'n': 3}]
		[{}, {'s': null}] | [{'$group': {'_id': '$s', 'n': {'$sum': 1}}}] | [{'_id': null, 'n': 2}]
		[{}, {'s': null}] | [{'$group': {'_id': {'k': '$s'}, 'n': {'$sum': 1}}}] | [{'_id': {}, 'n': 1}, {'_id': {'k': null}, 'n': 1}]
		[] | [{'$group': {'_id': null, 'n': {'$sum': 1}}}] | []
		[{'v': 2147483647}, {'v': 1}] | [{'$group': {'_id': 1, 'n': {'$sum': '$v'}}}] | [{'_id': 1, 'n': {'$numberLong': '2147483648'}}]
		[{'v': 1}, {'v': 1.5}, {'v': 'x'}, {}] | [{'$group': {'_id': 1, 'n': {'$sum': '$v'}}}] | [{'_id': 1, 'n': 2.5}]
		[{'v': {'$numberLong': '9223372036854775807'}}, {'v': 1}] | [{'$group': {'_id': 1, 'n': {'$sum': '$v'}}}] | [{'_id': 1, 'n': 9.223372036854775808e18}]
		[{'v': 1}, {'v': 2}, {'v': null}, {'v': 6}] | [{'$group': {'_id': 1, 'n': {'$avg': '$v'}}}] | [{'_id': 1, 'n': 3.0}]
		[{'v': 'x'}] | [{'$group': {'_id': 1, 'n': {'$avg': '$v'}}}] | [{'_id': 1, 'n': null}]
		[{'v': 5}, {'v': null}, {'v': 2}, {}] | [{'$group': {'_id': 1, 'lo': {'$min': '$v'}, 'hi': {'$max': '$v'}}}] | [{'_id': 1, 'lo': 2, 'hi': 5}]
		[{}] | [{'$group': {'_id': 1, 'lo': {'$min': '$v'}, 'f': {'$first': '$v'}}}] | [{'_id': 1, 'lo': null, 'f': null}]
		[{'v': 1}, {'v': 2}, {'v': 3}] | [{'$group': {'_id': 1, 'f': {'$first': '$v'}, 'l': {'$last': '$v'}}}] | [{'_id': 1, 'f': 1, 'l': 3}]
		[{'v': 1}, {}, {'v': null}, {'v': [2]}] | [{'$group': {'_id': 1, 'p': {'$push': '$v'}}}] | [{'_id': 1, 'p': [1, null, [2]]}]
		[{'v': 1}, {'v': 1.0}, {'v': 2}, {'v': 1}] | [{'$group': {'_id': 1, 'p': {'$addToSet': '$v'}}}] | [{'_id': 1, 'p': [1, 2]}]
		[{'p': 1, 'x': 1}, {'p': 2, 'x': 1}] | [{'$group': {'_id': '$p', 'bytes': {'$sum': {'$bsonSize': '$$ROOT'}}}}, {'$sort': {'_id': -1}}, {'$limit': 1}] | [{'_id': 2, 'bytes': 19}]
		[{'_id': 1}, {'_id': 2}, {'_id': 1}] | [{'$group': {'_id': '$_id', 'n': {'$sum': 1}}}, {'$match': {'n': {'$gt': 1}}}] | [{'_id': 1, 'n': 2}]
		[] | [{'$group': {'n': {'$sum': 1}}}] | !15955: a group specification must include an _id
		[] | [{'$group': {'_id': 1, 'n': {'$foo': 1}}}] | !15952: unknown group operator '$foo'
		[] | [{'$group': {'_id': 1, 'n': 1}}] | !40234: The field 'n' must be an accumulator object
		[] | [{'$group': {'_id': 1, 'n.a': {'$sum': 1}}}] | !40235: The field name 'n.a' cannot contain '.'
		[] | [{'$group': {'_id': 1, 'n': {'$sum': [1, 2]}}}] | !40237: The $sum accumulator is a unary operator
	`)
}

func TestUnwindMakesADocumentPerElement(t *testing.T) {
	checkPipelines(t, `
		[{'_id': 1, 'a': [1, 2]}, {'_id': 2, 'a': []}, {'_id': 3}, {'_id': 4, 'a': 7}, {'_id': 5, 'a': null}] | [{'$unwind': '$a'}] | [{'_id': 1, 'a': 1}, {'_id': 1, 'a': 2}, {'_id': 4, 'a': 7}]
		[{'_id': 1, 'a': [1]}, {'_id': 2, 'a': []}, {'_id': 3}, {'_id': 5, 'a': null}] | [{'$unwind': {'path': '$a', 'preserveNullAndEmptyArrays': true, 'includeArrayIndex': 'i'}}] | [{'_id': 1, 'a': 1, 'i': {'$numberLong': '0'}}, {'_id': 2, 'i': null}, {'_id': 3, 'i': null}, {'_id': 5, 'a': null, 'i': null}]
		[{'a': {'b': [1, 2], 'c': 3}}] | [{'$unwind': '$a.b'}] | [{'a': {'b': 1, 'c': 3}}, {'a': {'b': 2, 'c': 3}}]
		[] | [{'$unwind': 'a'}] | !28818: path option to $unwind stage should be prefixed with a '$': a
		[] | [{'$unwind': 1}] | !15981: expected either a string or an object as specification for $unwind stage, got int
	`)
}

func TestLookupAndUnionReadOtherCollections(t *testing.T) {
	checkPipelines(t, `
		[{'_id': 'x', 'uuid': 'A'}, {'_id': 'y', 'uuid': 'C'}] | [{'$lookup': {'from': 'chunks', 'localField': 'uuid', 'foreignField': 'uuid', 'as': 'c'}}, {'$project': {'n': {'$size': '$c'}}}] | [{'_id': 'x', 'n': 2}, {'_id': 'y', 'n': 0}]
		[{'_id': 'x', 'uuid': 'A'}] | [{'$lookup': {'from': 'chunks', 'let': {'u': '$uuid'}, 'pipeline': [{'$match': {'$expr': {'$eq': ['$uuid', '$$u']}}}, {'$sort': {'lastmod': -1}}, {'$limit': 1}, {'$project': {'_id': 0, 'lastmod': 1}}], 'as': 'top'}}] | [{'_id': 'x', 'uuid': 'A', 'top': [{'lastmod': 9}]}]
		[{'_id': 'x', 'uuid': 'A', 'm': 6}] | [{'$lookup': {'from': 'chunks', 'localField': 'uuid', 'foreignField': 'uuid', 'let': {'m': '$m'}, 'pipeline': [{'$match': {'$expr': {'$gt': ['$lastmod', '$$m']}}}], 'as': 'c.hit'}}] | [{'_id': 'x', 'uuid': 'A', 'm': 6, 'c': {'hit': [{'_id': 2, 'uuid': 'A', 'lastmod': 9}]}}]
		[{'_id': 'z'}] | [{'$lookup': {'from': 'chunks', 'localField': 'uuid', 'foreignField': 'uuid', 'as': 'c'}}, {'$unwind': '$c'}] | [{'_id': 'z', 'c': {'_id': 4, 'lastmod': 1}}]
		[{'u': ['A', 'B']}] | [{'$lookup': {'from': 'chunks', 'localField': 'u', 'foreignField': 'uuid', 'as': 'c'}}, {'$project': {'n': {'$size': '$c'}}}] | [{'n': 3}]
		[{'a': 1}] | [{'$unionWith': {'coll': 'chunks', 'pipeline': [{'$match': {'uuid': 'B'}}]}}] | [{'a': 1}, {'_id': 3, 'uuid': 'B', 'lastmod': 4}]
		[] | [{'$lookup': {'from': 'chunks', 'as': 'c'}}] | !9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified
		[] | [{'$lookup': {'from': 'chunks', 'localField': 'a', 'foreignField': 'b'}}] | !9: must specify 'as' field for a $lookup
		[] | [{'$lookup': {'from': 'chunks', 'pipeline': [{'$match': {'$expr': '$$u'}}], 'as': 'c'}}] | !17276: Use of undefined variable: u
		[] | [{'$lookup': {'from': 'chunks', 'pipeline': [{'$foo': 1}], 'as': 'c'}}] | !40324: Unrecognized pipeline stage name: '$foo'
	`)
}

func TestFacetSampleAndSourceStagesProduceDocuments(t *testing.T) {
	checkPipelines(t, `
		[] | [{'$documents': [{'a': 1}, {'a': {'$add': [1, 1]}}]}] | [{'a': 1}, {'a': 2}]
		[] | [{'$collStats': {'storageStats': {}}}, {'$project': {'shard': 1, 'storageStats.count': 1}}] | [{'shard': 's1', 'storageStats': {'count': 3}}]
		[] | [{'$currentOp': {'allUsers': true, 'localOps': false}}, {'$match': {'$or': [{'desc': {'$regex': '^(moveChunk|migrate)'}}, {'command.moveChunk': {'$exists': true}}]}}, {'$project': {'shard': 1}}] | [{'shard': 's2'}]
		[] | [{'$match': {}}, {'$collStats': {}}] | !40602: $collStats is only valid as the first stage in a pipeline
		[] | [{'$shardedDataDistribution': {}}] | !40324: Unrecognized pipeline stage name: '$shardedDataDistribution'
		[] | [{'$foo': {}}] | !40324: Unrecognized pipeline stage name: '$foo'
		[] | [{'$match': {}, '$limit': 1}] | !40323: A pipeline stage specification object must contain exactly one field.
		[] | [{'$limit': 0}] | !15958: the limit must be positive
		[] | [{'$limit': -1}] | !5107201: invalid argument to $limit stage: Expected a non-negative number in: $limit: -1
		[] | [{'$skip': 'a'}] | !5107200: invalid argument to $skip stage: Expected a number in: $skip: "a"
		[] | [{'$sort': {'a': 2}}] | !15975: $sort key ordering must be 1 (for ascending) or -1 (for descending)
		[] | [{'$sort': {}}] | !15976: $sort stage must have at least one sort key
		[] | [{'$match': 1}] | !15959: the match filter must be an expression in an object
		[] | [{'$count': 'a.b'}] | !40160: the count field cannot contain '.'
		[] | [{'$project': {'a': {'$foo': 1}}}] | !168: Invalid $project :: caused by :: Unrecognized expression '$foo'
	`)
}

func TestSampleTakesDistinctDocumentsReproducibly(t *testing.T) {
	var docs []bson.Raw
	for i := range 100 {
		docs = append(docs, doc("_id", value.Int32(int32(i))).Value)
	}
	stages := docsFrom(t, `[{'$sample': {'size': 5}}]`)
	first := describeDocuments(Run(stages, Of(docs...), &Env{Rand: rand.New(rand.NewPCG(7, 7))}))
	if again := describeDocuments(Run(stages, Of(docs...), &Env{Rand: rand.New(rand.NewPCG(7, 7))})); first != again {
		t.Errorf("%s, then %s", first, again)
	}
	seen := map[string]bool{}
	for d := range strings.SplitSeq(strings.Trim(first, "[]"), ",") {
		seen[d] = true
	}
	expect.Equal(t, len(seen), 5, "distinct documents in %s", first)
	if all := describeDocuments(Run(docsFrom(t, `[{'$sample': {'size': 500}}, {'$count': 'n'}]`), Of(docs...), nil)); all != `[{"n":{"$numberInt":"100"}}]` {
		t.Errorf("got %v, want %q", all, `[{"n":{"$numberInt":"100"}}]`)
	}
}

func TestLimitStopsReading(t *testing.T) {
	read := 0
	in := func(yield func(bson.Raw, error) bool) {
		for {
			read++
			if !yield(doc("a", one()).Value, nil) {
				return
			}
		}
	}
	out := describeDocuments(Run(docsFrom(t, `[{'$match': {'a': 1}}, {'$limit': 2}, {'$count': 'n'}]`), in, nil))
	if read != 2 || out != `[{"n":{"$numberInt":"2"}}]` {
		t.Errorf("read %d documents: %s, want read 2, out %q", read, out, `[{"n":{"$numberInt":"2"}}]`)
	}
}

func TestInputErrorEndsTheStream(t *testing.T) {
	broken := status.Errorf(50, "operation exceeded time limit")
	for _, stages := range []string{`[]`, `[{'$match': {}}]`, `[{'$group': {'_id': 1}}]`, `[{'$sort': {'a': 1}}]`, `[{'$set': {'a': 1}}]`,
		`[{'$skip': 3}]`, `[{'$limit': 3}]`, `[{'$unwind': '$a'}]`, `[{'$sample': {'size': 1}}]`} {
		if got := describeDocuments(Run(docsFrom(t, stages), fail(broken), nil)); got != "!50: operation exceeded time limit" {
			t.Errorf(`%s: %s, want "!50: operation exceeded time limit"`, stages, got)
		}
	}
}
