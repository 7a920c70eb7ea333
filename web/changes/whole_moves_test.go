package changes_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// A plan that moves whole collections has no bounds to show.
func TestPlanOfAWholeMoveShowsNoBounds(t *testing.T) {
	webtest.OnSimulatedCluster(t, func(c *webtest.SimulatedServer) {
		rows := bson.A{bson.D{{Key: "_id", Value: 1}}}
		_, err := c.Sim.Command(c.Context(), "app", bson.D{{Key: "insert", Value: "plain"}, {Key: "documents", Value: rows}})
		c.Must(err)
		_, err = c.Watcher.Load(c.Context())
		c.Must(err)
		for body, bounds := range map[string]bool{
			`{"kind":"move-primary","args":{"db":"app","to":"shard-rs-2"},"reason":"full"}`:                           false,
			`{"kind":"move","args":{"ns":"app.users","bounds":[{"p":0},{"p":10}],"to":"shard-rs-2"},"reason":"full"}`: true,
		} {
			p := c.Plan("anna", body)
			must.That(c, len(p.Effect.Moves) != 0, "%s moves nothing: %+v", body, p.Effect)
			html := c.Do("GET", "/plans/"+p.ID, webtest.As("anna", auth.Operator), webtest.Header("Accept", "text/html")).Body.String()
			got := strings.Contains(html, "From (inclusive)")
			expect.That(c, got == bounds && strings.Contains(html, p.Effect.Moves[0].NS), "%s: bounds are shown: %v", body, got)
		}
	})
}

// The form of a change of a database offers those that are known, also without projects.
func TestFormOffersTheKnownDatabases(t *testing.T) {
	s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}),
		webtest.WithActions(webtest.CannedActions()))
	page := func(path string) string {
		w := s.Do("GET", path, webtest.Header("Accept", "text/html"))
		must.That(t, w.Code == http.StatusOK, "%s: %d", path, w.Code)
		return w.Body.String()
	}
	var known []string
	webtest.ParseHTML(t, page(answer.PlanURL(actions.MovePrimary))).Find("select[name=db] option").Each(
		func(_ int, o *goquery.Selection) { known = append(known, o.AttrOr("value", "")) })
	want := len(s.Watcher.Value.Databases) + 1
	expect.That(t, len(known) == want && known[0] == "", "offered are %q, want %d with an empty one first", known, want)
	html := webtest.ParseHTML(t, page(answer.PlanURL(actions.MovePrimary, "db", s.Watcher.Value.Databases[0].Name)))
	expect.That(t, html.Find("select[name=db]").Length() == 0 && html.Find("input[type=hidden][name=db]").Length() == 1,
		"a database that is given is asked for again")
}

// The run of a resharding, and of what is built on it, leads to the plan that aborts it.
func TestRunOfAWholeMoveLeadsToItsAbort(t *testing.T) {
	for op, want := range map[operation.Op]string{
		operation.OpReshard:        answer.PlanURL(actions.ReshardAbort, "ns", "app.users"),
		operation.OpMoveCollection: answer.PlanURL(actions.MoveCollectionAbort, "ns", "app.users"),
		operation.OpUnshard:        answer.PlanURL(actions.UnshardAbort, "ns", "app.users"),
	} {
		stub := webtest.CannedActions()
		run := stub.RunList[0]
		run.State = engine.Running
		run.Steps = []engine.Step{{Step: operation.Step{Op: op, NS: "app.users", Shard: "shard-rs-2"}, State: engine.Running, Sent: webtest.Epoch,
			Resharding: &operation.Resharding{NS: "app.users", State: "cloning",
				Shards: []operation.ReshardingShard{{Shard: "shard-rs-1", Donor: "donating"}}}}}
		stub.RunList = []engine.Run{run}
		s := webtest.New(t, webtest.WithAuth(webtest.StubAuth{SignInMode: "local", Me: webtest.Olga}), webtest.WithActions(stub))
		html := s.Page(t, "/runs/"+run.ID, webtest.Header("Accept", "text/html"))
		expect.Equal(t, html.Find("a[href='"+want+"']").Length(), 1, "%s: no link to %s", op, want)
		commits := html.Find("a[href*='reshard-commit']").Length()
		expect.Equal(t, commits == 1, op == operation.OpReshard, "%s: %d links to a commit", op, commits)
		expect.Equal(t, html.Find(".reshardshards tbody tr").Length(), 1,
			"%s: the state of its shard is not shown", op)
		stub.RunList[0].State, stub.RunList[0].Steps[0].State = engine.Succeeded, engine.Succeeded
		expect.Equal(t, s.Page(t, "/runs/"+run.ID, webtest.Header("Accept", "text/html")).Find(".reshardshards").Length(), 0,
			"%s: how far it was is shown after its end", op)
	}
}
