package actions

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// refined is the key of documents with the field by which Yorkie tells them apart.
var refined = keyPattern("project_id", 1, "key", 1)

func keyPattern(pairs ...any) bson.Raw {
	var d bson.D
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err) // names with 1 or "hashed"
	}
	return raw
}

func withIndexes(all ...operation.Index) func(*Situation) {
	return func(s *Situation) { s.Indexes = Indexes{All: all, At: now} }
}

// yorkieIndexes are those that Yorkie makes of documents.
func yorkieIndexes() []operation.Index {
	return []operation.Index{
		{Name: "_id_", Key: keyPattern("_id", 1)},
		{Name: "project_id_1", Key: keyPattern("project_id", 1)},
		{Name: "project_id_1_key_1_removed_at_1", Key: keyPattern("project_id", 1, "key", 1, "removed_at", 1), Unique: true},
	}
}

func TestRefineKeyRefusesKeysThatDoNotExtend(t *testing.T) {
	s := cluster(t, "0.6.38", "7.0.12")
	for _, x := range []struct {
		ns   topology.Namespace
		key  bson.Raw
		says string
	}{
		{documents, keyPattern("key", 1), `field 1 is "key", not "project_id"`},
		{documents, keyPattern("key", 1, "project_id", 1), `"project_id" is not in its place`},
		{documents, keyPattern("project_id", "hashed"), `"project_id" is hashed`},
		{clients, keyPattern("project_id", 1), `lacks the field "_id"`},
		{clients, keyPattern("project_id", 1, "_id", 1), `"_id" is not hashed, and is hashed now`},
		{clients, keyPattern("project_id", 1, "_id", "hashed", "key", "hashed"), `one hashed field only`},
		{documents, keyPattern("project_id", 1, "key", -1), `must be 1 or`},
		{documents, keyPattern("project_id", 1, "key", 1, "key", 1), `"key" twice`},
		{documents, nil, `"key"`},
	} {
		_, _, err := Describe(RefineKey).Draft(s, Args{NS: x.ns, Key: x.key})
		if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), x.says) {
			t.Errorf("%s: %v, want %s", x.key, err, x.says)
		}
	}
}

func TestRefineKeyChecks(t *testing.T) {
	index := func(change func(*operation.Index)) func(*Situation) {
		i := operation.Index{Name: "k", Key: refined}
		change(&i)
		return withIndexes(i)
	}
	good := withIndexes(yorkieIndexes()...)
	unread := func(s *Situation) { s.Indexes = Indexes{Reason: "notPermitted"} }
	manyZones := func(s *Situation) {
		for range manyRewritten {
			s.Table.Zones = append(s.Table.Zones, topology.ZoneRange{NS: documents})
		}
	}
	foreign := func(s *Situation) { s.Profile = &profile.Profile{Name: "other"} }
	refine := func(ns topology.Namespace, key bson.Raw) func(Situation) Args { return fixed(Args{NS: ns, Key: key}) }
	runChecks(t, "0.6.38", []checkCase{
		expect("same key", RefineKey, refine(documents, keyPattern("project_id", 1)), Block, "refine.already", version("7.0.12")),
		expect("an index", RefineKey, refine(documents, refined), Pass, "index.found", version("7.0.12"), good),
		expect("no index", RefineKey, refine(documents, refined), Block, "index.missing",
			version("7.0.12"), withIndexes(yorkieIndexes()[:2]...)),
		expect("indexes not permitted", RefineKey, refine(documents, refined), Warn, "index.unknown", version("7.0.12"), unread),
		expect("partial", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Partial = true })),
		expect("sparse", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Sparse = true })),
		expect("hidden", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Hidden = true })),
		expect("collated", RefineKey, refine(documents, refined), Block, "index.unfit",
			version("7.0.12"), index(func(i *operation.Index) { i.Collated = true })),
		expect("descending", RefineKey, refine(documents, refined), Block, "index.missing",
			version("7.0.12"), index(func(i *operation.Index) { i.Key = keyPattern("project_id", 1, "key", -1) })),
		expect("hashed index for a ranged field", RefineKey, refine(documents, refined), Block, "index.missing",
			version("7.0.12"), index(func(i *operation.Index) { i.Key = keyPattern("project_id", 1, "key", "hashed") })),
		expect("a unique index without the key", RefineKey, refine(documents, keyPattern("project_id", 1, "_id", 1)), Block, "unique.conflict",
			version("7.0.12"), good),
		expect("a unique key without a unique index", RefineKey, refine(documents, refined), Block, "unique.key",
			version("7.0.12"), good, func(s *Situation) { collectionIn(s, documents).Unique = true }),

		expect("Yorkie before 7.0", RefineKey, refine(documents, refined), Block, "application.refused", version("6.0.20"), good),
		expect("Yorkie on 4.4", RefineKey, refine(documents, refined), Block, "application.refused", version("4.4.29"), good),
		expect("Yorkie on 7.0", RefineKey, refine(documents, refined), Warn, "application.slowerUntried", version("7.0.12"), good),
		expect("Yorkie on 8.0", RefineKey, refine(documents, refined), Warn, "application.slower", version("8.0.13"), good),
		expect("Yorkie, version unknown", RefineKey, refine(documents, refined), Block, "application.release", version("?"), good),
		expect("another program", RefineKey, refine(documents, refined), Warn, "application.unknown", version("5.0.7"), good, foreign),

		expect("many chunks", RefineKey, refine(documents, refined), Warn, "rewrite.many", version("8.0.13"), good, manyZones),
		expect("few chunks", RefineKey, refine(documents, refined), Pass, "rewrite", version("8.0.13"), good),
	})
	runChecks(t, "0.4", []checkCase{
		expect("Yorkie's clients have the whole key", RefineKey, refine(clients, keyPattern("project_id", 1, "_id", "hashed")), Pass,
			"application.whole",
			version("5.0.7")),
	})
}
