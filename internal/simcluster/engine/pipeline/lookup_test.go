package pipeline

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func describeStages(stages []bson.Raw) string { return describeDocuments(Of(stages...), nil) }

func TestLookupPassesItsEqualityToTheCollection(t *testing.T) {
	env := otherCollections(t)
	var leads []bson.Raw
	env.Lookup = func(_, _ string, stages []bson.Raw, vars map[string]bson.RawValue) Docs {
		lead := Leading(stages)
		leads = append(leads, lead.Filter, lead.Sort)
		if lead.Limit != 1 || len(lead.Rest) != 0 {
			t.Errorf("got %+v, want Limit 1, len(Rest) 0", lead)
		}
		if s, _ := text(vars["u"]); s != "A" {
			t.Errorf("u is %v", vars["u"])
		}
		return Of()
	}
	describeDocuments(Run(docsFrom(t, `[{'$lookup': {'from': 'chunks', 'let': {'u': '$uuid'}, 'as': 'top',
		'pipeline': [{'$match': {'$expr': {'$eq': ['$uuid', '$$u']}}}, {'$sort': {'lastmod': -1}}, {'$limit': 1}]}}]`),
		Of(docsFrom(t, `[{'uuid': 'A'}]`)...), env))
	want := describeStages(docsFrom(t, `[{'$and': [{'uuid': {'$eq': 'A'}}, {'$expr': {'$eq': ['$uuid', '$$u']}}]}, {'lastmod': -1}]`))
	if got := describeStages(leads); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
