package actions

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

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

func withIndexes(all ...Index) func(*Situation) {
	return func(s *Situation) { s.Indexes = Indexes{All: all, At: now} }
}

// yorkieIndexes are those that Yorkie makes of documents.
func yorkieIndexes() []Index {
	return []Index{
		{Name: "_id_", Key: keyPattern("_id", 1)},
		{Name: "project_id_1", Key: keyPattern("project_id", 1)},
		{Name: "project_id_1_key_1_removed_at_1", Key: keyPattern("project_id", 1, "key", 1, "removed_at", 1), Unique: true},
	}
}

func checkNamed(t *testing.T, d Draft, id string) Check {
	t.Helper()
	for _, c := range d.Checks {
		if c.ID == id {
			return c
		}
	}
	return Check{}
}

func TestRefineKeyPlansOneCommandWithoutUndo(t *testing.T) {
	s := cluster(t, "0.6.38", "8.0.13", zone(t, "eu", "a", documents, from(t, 20), from(t, 30)), withIndexes(yorkieIndexes()...))
	d, a := plan(t, s, RefineKey, Args{NS: documents, Key: keyPattern("project_id", 1.0, "key", int64(1))})
	if string(a.Key) != string(keyPattern("project_id", int32(1), "key", int32(1))) {
		t.Errorf("the key is %s, want int32 numbers", a.Key)
	}
	if len(d.Steps) != 1 || d.Steps[0].Op != OpRefineKey || d.Steps[0].NS != documents || string(d.Steps[0].Key) != string(a.Key) {
		t.Fatalf("steps %+v", d.Steps)
	}
	if d.Undo.Possible || d.Confirm != string(documents) || d.Risk != High || d.Blocked() {
		t.Errorf("undo %+v, confirm %q, risk %s, blocked %t", d.Undo, d.Confirm, d.Risk, d.Blocked())
	}
	need, proof := d.Steps[0].Needs[0], d.Steps[0].Proof[0]
	if need.Want["key"] != "{project_id: 1}" || need.Want["epoch"] == "" && need.Want["timestamp"] == "" {
		t.Errorf("needs %v", need)
	}
	if proof.Want["key"] != "{project_id: 1, key: 1}" || proof.Want["uuid"] != need.Want["uuid"] || proof.Want["epoch"] != "" {
		t.Errorf("proof %v", proof)
	}
	if text := checkNamed(t, d, "rewrite").Text.String(); !strings.Contains(text, "all 3 chunks and the only zone range") {
		t.Errorf("rewrite: %s", text)
	}
	if d.IndexesOf != documents {
		t.Errorf("the indexes of %q are read", d.IndexesOf)
	}
	if len(d.Effect.Moves) != 0 || !d.Effect.Bytes.Known || d.Effect.Bytes.Value != 0 {
		t.Errorf("effect %+v", d.Effect)
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
		_, _, err := RefineKey.Describe().Draft(s, Args{NS: x.ns, Key: x.key})
		if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), x.says) {
			t.Errorf("%s: %v, want %s", x.key, err, x.says)
		}
	}
}

func TestRefineKeyChecks(t *testing.T) {
	index := func(change func(*Index)) func(*Situation) {
		i := Index{Name: "k", Key: refined}
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
	for _, x := range []struct {
		name, release string
		ns            topology.Namespace
		key           bson.Raw
		change        []func(*Situation)
		check         string
		want          Verdict
		code          string
	}{
		{"same key", "7.0.12", documents, keyPattern("project_id", 1), nil, "refine", Block, "refine.already"},
		{"an index", "7.0.12", documents, refined, []func(*Situation){good}, "index", Pass, "index.found"},
		{"no index", "7.0.12", documents, refined, []func(*Situation){withIndexes(yorkieIndexes()[:2]...)}, "index", Block, "index.missing"},
		{"indexes not permitted", "7.0.12", documents, refined, []func(*Situation){unread}, "index", Warn, "index.unknown"},
		{"partial", "7.0.12", documents, refined, []func(*Situation){index(func(i *Index) { i.Partial = true })}, "index", Block, "index.unfit"},
		{"sparse", "7.0.12", documents, refined, []func(*Situation){index(func(i *Index) { i.Sparse = true })}, "index", Block, "index.unfit"},
		{"hidden", "7.0.12", documents, refined, []func(*Situation){index(func(i *Index) { i.Hidden = true })}, "index", Block, "index.unfit"},
		{"collated", "7.0.12", documents, refined, []func(*Situation){index(func(i *Index) { i.Collated = true })}, "index", Block, "index.unfit"},
		{"descending", "7.0.12", documents, refined, []func(*Situation){index(func(i *Index) { i.Key = keyPattern("project_id", 1, "key", -1) })},
			"index", Block, "index.missing"},
		{"hashed index for a ranged field", "7.0.12", documents, refined,
			[]func(*Situation){index(func(i *Index) { i.Key = keyPattern("project_id", 1, "key", "hashed") })}, "index", Block, "index.missing"},
		{"a unique index without the key", "7.0.12", documents, keyPattern("project_id", 1, "_id", 1), []func(*Situation){good},
			"unique", Block, "unique.conflict"},
		{"a unique key without a unique index", "7.0.12", documents, refined,
			[]func(*Situation){good, func(s *Situation) { collectionIn(s, documents).Unique = true }}, "unique", Block, "unique.key"},

		{"Yorkie before 7.0", "6.0.20", documents, refined, []func(*Situation){good}, "application", Block, "application.refused"},
		{"Yorkie on 4.4", "4.4.29", documents, refined, []func(*Situation){good}, "application", Block, "application.refused"},
		{"Yorkie on 7.0", "7.0.12", documents, refined, []func(*Situation){good}, "application", Warn, "application.slowerUntried"},
		{"Yorkie on 8.0", "8.0.13", documents, refined, []func(*Situation){good}, "application", Warn, "application.slower"},
		{"Yorkie, version unknown", "?", documents, refined, []func(*Situation){good},
			"application", Block, "application.release"},
		{"Yorkie's clients have the whole key", "5.0.7", clients, keyPattern("project_id", 1, "_id", "hashed"), nil,
			"application", Pass, "application.whole"},
		{"another program", "5.0.7", documents, refined, []func(*Situation){good, foreign}, "application", Warn, "application.unknown"},

		{"many chunks", "8.0.13", documents, refined, []func(*Situation){good, manyZones}, "rewrite", Warn, "rewrite.many"},
		{"few chunks", "8.0.13", documents, refined, []func(*Situation){good}, "rewrite", Pass, "rewrite"},
	} {
		t.Run(x.name, func(t *testing.T) {
			layout := "0.6.38"
			if x.ns == clients {
				layout = "0.4" // by project alone
			}
			d, _ := plan(t, cluster(t, layout, x.release, x.change...), RefineKey, Args{NS: x.ns, Key: x.key})
			if c := checkNamed(t, d, x.check); c.Verdict != x.want || c.Text.Code != x.code {
				t.Errorf("%s: %s %q (%s)", x.check, c.Verdict, c.Text.Code, c.Text.String())
			}
		})
	}
}
