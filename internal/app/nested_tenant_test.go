package app

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Shard keys that begin with a field inside of another one: from the proposal to a tenant that is measured, pinned and
// located, all of it as the servers themselves have it.
func TestTenantInsideOfAFieldIsProposedMeasuredPinnedAndLocated(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startDemoOver(t, simcluster.Options{Empty: true, Still: true}, topology.Options{}, nil, func(c *mongo.Client) {
		madeup.CRM.Fill(func(db string, cmd bson.D) { must.Do(t, c.Database(db).RunCommand(t.Context(), cmd).Err()) })
	})
	d.stop(t)
	d.config.DataDir, d.config.Actions = t.TempDir(), true
	d.serve(t)
	d.waitReady(t)
	d.waitForPage(t, "", "No profile fits this data: here is one", "tenant.id is the tenant: 3 of 3 shard keys", "8 rows of deals")
	var proposed api.Profile
	d.getJSON(t, "api/v1/profile", &proposed)
	got := d.post(t, "profile/keep", formType, url.Values{"hash": {proposed.Proposed.Hash}}.Encode())
	must.That(t, got == http.StatusSeeOther, "keep: %d", got)
	d.waitForPage(t, "projects", "Tenant 3")
	var list api.List[api.Project]
	d.getJSON(t, "api/v1/projects?q=Tenant+3", &list)
	id := list.Items[0].ID
	const tenant, shard = "t-3", "shard-rs-3"
	colls := []string{"crm.deal_notes", "crm.deals", "crm.visits"}

	var survey api.SurveyDetail
	d.postJSON(t, "api/v1/surveys", api.SurveyStart{Kind: "project", Project: id}, &survey.Survey)
	must.That(t, eventually(waitLimit, func() bool { d.getJSON(t, "api/v1/surveys/"+survey.ID, &survey); return survey.State == "done" }),
		"the survey does not end: %+v", survey)
	for _, c := range survey.Collections {
		line := c.Projects[0]
		on := d.explain(t, c.NS, madeup.Row("tenant.id", tenant))
		expect.That(t, *line.Rows.Value == 8 && line.Name == "Tenant 3" && len(line.Shards) == 1 && line.Shards[0].Shard == on[0],
			"surveyed %s: %+v, explain says %v", c.NS, line, on)
	}
	expect.Equal(t, len(survey.Collections), len(colls), "surveyed %+v", survey.Collections)

	plan := d.planned(t, "pin", fmt.Sprintf(`{"project":%q,"shard":%q}`, id, shard))
	run := d.ran(t, plan)
	must.That(t, run.State == "succeeded", "%+v", run)
	for _, ns := range colls {
		on := d.explain(t, ns, madeup.Row("tenant.id", tenant))
		expect.That(t, slices.Equal(on, []string{shard}), "pinned rows of %s are on %v", ns, on)
	}
	d.waitForPage(t, "runs/"+run.ID, `"middle": {"tenant.id": "t-3", "deal.number": MinKey()}`, "13 of 13 steps proven")
	d.waitForPage(t, "projects/"+id, "On shard-rs-3: deals, deal_notes and visits.", `{"tenant.id": 1, "deal.number": 1}`)
	var documents api.List[api.ProjectDocument]
	d.getJSON(t, "api/v1/projects/"+id+"/documents", &documents)
	expect.That(t, len(documents.Items) == 8 && documents.Items[4].Key == "D04", "its documents are %+v", documents.Items)
	for _, q := range []string{"q=Tenant+3/D04", "q=" + documents.Items[4].ID, "ns=crm.visits&key=" + url.QueryEscape(`{"tenant":{"id":"t-3"}}`),
		"ns=crm.deals&key=" + url.QueryEscape(`{"tenant.id":"t-3","deal":{"number":"D04"}}`)} {
		var found api.LocateAnswer
		d.getJSON(t, "api/v1/locate?"+q, &found)
		if len(found.Items) != 1 || len(found.Items[0].Places) != 1 || !slices.Equal(found.Items[0].Places[0].Shards, []string{shard}) {
			t.Errorf("%s is located at %+v", q, found.Items)
		}
	}
	d.waitForPage(t, "locate?q=Tenant+3/D04", `Shard key {"tenant.id": 1, "deal.number": 1}: tenant.id is "t-3"`)
	// Of rows without the field, with text where its parent should be and with its name as their own, there is no tenant.
	on := d.explain(t, "crm.deal_notes", madeup.Row("tenant.id", nil))
	expect.That(t, slices.Equal(on, []string{"shard-rs-1"}), "rows without a tenant are on %v", on)
}
