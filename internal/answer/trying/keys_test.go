package trying

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func labKeys(t *testing.T, query string) api.LabKeys {
	t.Helper()
	in := must.Get(url.ParseQuery(query))
	q, err := ParseLabKeys(in, answer.View{})
	must.Do(t, err)
	a, err := LabKeys(t.Context(), answer.View{}, q, nil)
	must.Do(t, err)
	return a
}

func labKeyOf(t *testing.T, a api.LabKeys, key string) api.LabKey {
	t.Helper()
	for _, k := range a.Items {
		if k.Key == key {
			must.That(t, k.Problem == "", "%s: %s", key, k.Problem)
			return k
		}
	}
	t.Fatalf("%s is not compared", key)
	return api.LabKey{}
}

func codes(k api.LabKey) (out []string) {
	for _, w := range k.Weaknesses {
		out = append(out, w.Code)
	}
	return out
}

// The weak points that Yorkie's own design and issues name for its layouts: a project that is larger than a chunk is on
// one shard (ranged project_id), new documents load one shard (ranged doc_id), the same ObjectID comes on two shards,
// and clients of a project are on several shards.
func TestWeakPointsOfYorkiesLayoutsAreThoseOfItsDesign(t *testing.T) {
	documents := "collection=documents&projects=10&perProject=500000&rows=10000&chunkMB=64"
	clients := "collection=clients&projects=10&perProject=500000&rows=10000&chunkMB=64"
	changes := "collection=changes&projects=100&perProject=200&perDocument=1000&rows=10000&chunkMB=64&skew=0.5"
	for _, x := range []struct {
		layout, query, today string
		first                string
		also                 []string
	}{
		{"0.4", documents, `{project_id: 1}`, WeakFrequent, []string{WeakIDs}},
		{"0.4", clients, `{project_id: 1}`, WeakFrequent, []string{WeakIDs}},
		{"0.4", changes, `{doc_id: 1}`, WeakIDs, nil},
		{"0.6.38", documents, `{project_id: 1}`, WeakFrequent, []string{WeakIDs}},
		{"0.6.38", clients, `{project_id: 1, _id: "hashed"}`, WeakSpread, []string{WeakIDs}},
		{"head", documents, `{project_id: 1}`, WeakFrequent, []string{WeakIDs}},
		{"head", clients, `{project_id: 1, _id: "hashed"}`, WeakSpread, []string{WeakIDs}},
		{"head", changes, `{doc_id: "hashed"}`, WeakIDs, nil},
	} {
		k := labKeyOf(t, labKeys(t, x.query+"&today="+url.QueryEscape(quotedKey(x.today))), x.today)
		if !k.Today || len(k.Weaknesses) == 0 || k.Weaknesses[0].Code != x.first || k.Weakness != k.Weaknesses[0].Text {
			t.Errorf("%s: %s has the weak points %v, expected %s first", x.layout, x.today, codes(k), x.first)
		}
		for _, code := range x.also {
			if !slices.Contains(codes(k), code) {
				t.Errorf("%s: %s has the weak points %v, without %s", x.layout, x.today, codes(k), code)
			}
		}
	}
	// What hashing doc_id was for: few documents that are new get all changes.
	few := labKeys(t, "collection=changes&projects=5&perProject=20&perDocument=200&rows=20000&skew=0&growth=100&shards=8")
	if old, now := labKeyOf(t, few, "{doc_id: 1}"), labKeyOf(t, few, `{doc_id: "hashed"}`); *old.InsertShare <= *now.InsertShare {
		t.Errorf("inserts on the busiest shard: %.2f with ranged doc_id, %.2f hashed", *old.InsertShare, *now.InsertShare)
	}
}

// quotedKey is a key as JSON.
func quotedKey(text string) string {
	return strings.NewReplacer("project_id:", `"project_id":`, "doc_id:", `"doc_id":`, " _id:", ` "_id":`).Replace(text)
}

func TestLinkShowsTheSameComparison(t *testing.T) {
	a := labKeys(t, `collection=changes&projects=7&perProject=5&perDocument=30&skew=0.5&growth=3&days=10&seed=9&shards=4&keys={"_id":1}{"actor":1}`)
	_, query, _ := strings.Cut(string(a.URL), "?")
	if again := labKeys(t, query); !reflect.DeepEqual(a, again) {
		t.Errorf("%+v\nis not\n%+v", again, a)
	}
	if other := labKeys(t, strings.Replace(query, "seed=9", "seed=10", 1)); reflect.DeepEqual(a.Items, other.Items) {
		t.Error("another seed makes the same rows")
	}
	if !a.Exact || a.Of != 1050 || len(a.Items) != 10 {
		t.Errorf("%d rows, %d keys, exact: %v", a.Of, len(a.Items), a.Exact)
	}
	if k := a.Items[len(a.Items)-1]; k.Key != "{actor: 1}" || !strings.Contains(k.Problem, `"actor"`) {
		t.Errorf("a key of a field that rows do not have: %+v", k)
	}
}

func TestCandidatesAndCosts(t *testing.T) {
	a := labKeys(t, "collection=documents&release=5.0&perProject=10&rateMB=1&rowBytes=1024")
	for key, want := range map[string]api.LabKeyCost{
		"{project_id: 1}":         {How: "it is the key of today"},
		"{project_id: 1, key: 1}": {How: "refine"},
		`{_id: "hashed"}`: {How: "reshard", Bytes: 2000 << 10, Seconds: 1,
			Blockers: "The unique index {project_id, key, removed_at} has to be dropped first."},
		"{locality_id: 1}": {How: "reshard", Bytes: 2000 << 10, Seconds: 1,
			Blockers: "The unique index {project_id, key, removed_at} has to be dropped first. Programs have to write the field locality_id first."},
	} {
		expect.Equal(t, labKeyOf(t, a, key).Cost, want, "the cost of %s", key)
	}
	for _, key := range []string{"{coarse_time: 1, key: 1}", "{locality_id_seq: 1}"} {
		labKeyOf(t, a, key)
	}
	if got := labKeyOf(t, labKeys(t, "release=4.4"), `{_id: "hashed"}`).Cost.How; got != "not possible on this release" {
		t.Errorf("with 4.4: %s", got)
	}
	if got := labKeyOf(t, labKeys(t, "today=none"), "{project_id: 1}").Cost.How; got != "shard the collection" {
		t.Errorf("not sharded: %s", got)
	}
}

// A sample of few rows tells nothing of small chunks.
func TestFewRowsOfManyTellNothingOfChunks(t *testing.T) {
	a := labKeys(t, "rows=100&projects=1000&perProject=100000&chunkMB=1")
	for _, k := range a.Items {
		must.That(t, k.Chunks == nil && k.HeaviestBytes == nil && k.Unsplittable == nil, "%s: %+v", k.Key, k)
	}
}

func TestBadInputsNameTheFieldAndItsLimit(t *testing.T) {
	for query, want := range map[string]string{
		"collection=users": "collection must be",
		"rows=99":          "rows must be a number from 100 to 100000",
		"projects=0":       "projects must be a number from 1",
		"collection=changes&projects=9999&perProject=999": "perProject: ",
		"rowBytes=16000000&perProject=90000000":           "rowBytes: ",
		"skew=NaN":                                        "skew must be a number from 0 to 3",
		"growth=-1":                                       "growth must be a number from 0 to 1000",
		"seed=-1":                                         "seed must be a number",
		"shards=1025":                                     "shards must be a number from 1 to 1024",
		"chunkMB=0":                                       "chunkMB must be a number from 1 to 1024",
		"release=new":                                     "release must be",
		"today={a:1}":                                     "today must be shard keys as JSON",
		`keys={"a":2}`:                                    "keys: ",
		`keys={"a":1}{"b":1}{"c":1}{"d":1}{"e":1}{"f":1}{"g":1}{"h":1}{"i":1}`: "keys: at most 8",
	} {
		in := must.Get(url.ParseQuery(query))
		if _, err := ParseLabKeys(in, answer.View{}); fault.Of(err) != fault.Invalid || !strings.HasPrefix(fault.Text(err), want) {
			t.Errorf("%s: %v, expected %q", query, err, want)
		}
	}
}
