package locating_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

func ticketFor(name string) *api.Ticket { return ticketIn(nil, name) }

func ticketIn(words *profile.Profile, name string) *api.Ticket {
	t := &topology.Table{
		Loaded: true, Shards: []topology.Shard{{Name: "rs-1", ReplSet: "rs-1", Hosts: []string{"h1:27018", "h2:27018"}}},
		Databases: []topology.Database{{Name: "db", Primary: "rs-1"}}, Unsharded: []topology.Namespace{"db.a", "db.b"}}
	t.ServerInfo = topology.ServerInfo{Hosts: "m1:27017,m2:27017", ClusterID: "65ab"}
	t.Health = map[topology.Part]topology.Health{topology.PartRouting: {At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	none := placement.NewDirectory(1, nil, nil, topology.Health{})
	v := answer.View{Table: t, Dir: none, Profile: words, Now: time.Date(2026, 3, 1, 12, 0, 1, 0, time.UTC)}
	p := placement.Project{Name: name, DB: "db", ID: [12]byte{1}}
	found := placement.Answer{Items: []placement.Item{{Kind: "document", ID: "0a", Name: name, DB: "db", Project: &p,
		Places: []placement.Place{{NS: "db.a", Shards: []string{"rs-1"}, Exact: true, Exists: "yes"},
			{NS: "db.b", Shards: []string{"rs-1"}, Exact: true, Exists: "would-be"}, {NS: "db.c", Exists: "absent"}}}}}
	return locating.TicketOf(v, found.Items, locating.Locate(context.Background(), v, nil, found, locating.LocateExtras{}))
}

func TestTicketSaysWhatWhereWhyAndWhen(t *testing.T) {
	got := ticketFor("handbook")
	for _, part := range []string{"Yorkie document handbook of project handbook\n", "a: rs-1; b: on rs-1, not counted.\n", "id 0a",
		"database db",
		"- a and b: rs-1 (h1:27018, h2:27018), not sharded\n", "Why: db.a: not sharded, so on rs-1, the primary shard of db",
		"Cluster: m1:27017,m2:27017, id 65ab.\n",
		"As of 2026-03-01 12:00:00 UTC, from the routing table"} {
		expect.Contains(t, got.Text, part, "the text")
	}
	for _, part := range []string{"**Where:** Yorkie document `handbook`",
		"- `a` and `b`: `rs-1` (`h1:27018`, `h2:27018`), not sharded\n\nWhy: "} {
		expect.Contains(t, got.Markdown, part, "the Markdown")
	}
}

func TestNamesInATicketAreNeitherLinesNorMarkup(t *testing.T) {
	const name = "x\n- b: rs-9``[link](http://evil)\u202e<img>"
	got := ticketFor(name)
	for _, text := range []string{got.Text, got.Markdown} {
		if strings.Contains(text, "\n- b: rs-9") || strings.ContainsRune(text, '\u202e') {
			t.Errorf("a name is a line of its own:\n%s", text)
		}
	}
	fenced := "```" + sanitize.Line(name) + "```" // longer than the fence in the name
	if n := strings.Count(got.Markdown, fenced); n != 2 || n != strings.Count(got.Markdown, "[link]") {
		t.Errorf("the name is fenced %d times:\n%s", n, got.Markdown)
	}
}

func TestAnswerWithoutItemsHasNoTicket(t *testing.T) {
	if got := locating.TicketOf(answer.View{}, nil, api.LocateAnswer{}); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestTicketsAreInTheProfilesWords(t *testing.T) {
	shop := &profile.Profile{Tenants: profile.Called{One: "Tenant", Many: "Tenants"}, Called: profile.Called{One: "Item", Many: "Items"}}
	got := ticketIn(shop, "the project")
	if !strings.Contains(got.Text, "Item the project of tenant the project\n") || strings.Contains(got.Text, "project id") {
		t.Error(got.Text)
	}
}
