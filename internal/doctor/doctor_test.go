package doctor_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/doctor"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// fakeCluster is a cluster that answers every read with the same error, except reads that
// are refused.
type fakeCluster struct {
	id      topology.Identity
	idErr   error
	readErr error
	refused map[string]bool // by namespace, database or method
	ahead   time.Duration
}

func (f *fakeCluster) read(what string) error {
	if f.refused[what] {
		return fault.New(fault.Forbidden, "no")
	}
	return f.readErr
}

func (f *fakeCluster) Identity(context.Context) (topology.Identity, error) { return f.id, f.idErr }
func (f *fakeCluster) Clock(context.Context) (topology.Clock, error) {
	c := topology.Clock{Asked: time.Now()}
	time.Sleep(100 * time.Millisecond)
	c.Theirs = time.Now().Add(f.ahead)
	time.Sleep(100 * time.Millisecond)
	c.Answered = time.Now()
	return c, nil
}
func (f *fakeCluster) MayFind(_ context.Context, ns topology.Namespace) error {
	return f.read(string(ns))
}
func (f *fakeCluster) Collections(_ context.Context, db string) ([]topology.Namespace, error) {
	return nil, f.read(db)
}
func (f *fakeCluster) Sizes(_ context.Context, ns topology.Namespace) (topology.Sizes, error) {
	return topology.Sizes{}, f.read("sizes")
}
func (f *fakeCluster) AllSizes(context.Context) ([]topology.Sizes, error) {
	return nil, f.read("all sizes")
}
func (f *fakeCluster) Disks(_ context.Context, db string, _ []topology.Shard) (map[string]topology.Disk, error) {
	return nil, f.read(db)
}
func (f *fakeCluster) Primaries(context.Context) (map[string]string, error) {
	return nil, f.read("primaries")
}

// examine examines the database "shop" in a synctest bubble.
func examine(t *testing.T, f *fakeCluster, version string, b topology.Balancer) (r doctor.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := profile.Yorkie()
		var err error
		r, err = doctor.Examine(t.Context(), f, doctor.Subject{
			Table: &topology.Table{Balancer: b}, Server: topology.ServerInfo{Version: version, Hosts: "h:1"}, Profile: p,
			Data: []doctor.Data{{DB: "shop", Layout: p.Layouts[0]}},
		})
		must.Do(t, err)
	})
	return r
}

func states(r doctor.Report) map[string]doctor.State {
	out := map[string]doctor.State{}
	for _, f := range r.Findings {
		out[f.Code] = f.State
	}
	return out
}

func check(t *testing.T, r doctor.Report, code string, want doctor.State) {
	t.Helper()
	for _, c := range r.Checks {
		if c.Code == code {
			expect.Equal(t, c.State, want, "%s", code)
			return
		}
	}
	t.Errorf("no check %s in %v", code, r.Checks)
}

var someone = []string{"u@admin"}

func grants(on topology.Resource, actions ...string) topology.Identity {
	return topology.Identity{Users: someone, Grants: []topology.Grant{{On: on, Actions: actions}}}
}

func TestARefusedReadOverridesThePrivilegeList(t *testing.T) {
	f := &fakeCluster{id: grants(topology.Resource{Any: true}, "anyAction"), refused: map[string]bool{"config.tags": true}}
	got := states(examine(t, f, "5.0.7", topology.Balancer{}))
	if got["zones"] != doctor.Lacks || got["zoneRanges"] != doctor.Lacks || got["routing"] != doctor.OK || got["move"] != doctor.OK {
		t.Errorf("unexpected states: %v", got)
	}
}

func TestASuccessfulReadCountsAsGranted(t *testing.T) {
	got := states(examine(t, &fakeCluster{id: topology.Identity{Users: someone}}, "5.0.7", topology.Balancer{}))
	if got["routing"] != doctor.OK || got["unsharded"] != doctor.OK || got["disks"] != doctor.OK || got["members"] != doctor.OK {
		t.Errorf("unexpected states: %v", got)
	}
	// Statistics of one collection prove nothing about the others.
	if got["sizes"] != doctor.Lacks || got["move"] != doctor.Lacks || got["balancerSwitch"] != doctor.Lacks {
		t.Errorf("unexpected states: %v", got)
	}
}

func TestWithoutAPrivilegeListOnlyChangesAreUnknown(t *testing.T) {
	r := examine(t, &fakeCluster{idErr: fault.New(fault.Unavailable, "no")}, "5.0.7", topology.Balancer{})
	for _, f := range r.Findings {
		want := doctor.OK
		if f.Change {
			want = doctor.Unknown
		}
		if f.State != want && f.Code != "zoneRanges" && f.Code != "zoneShards" { // zone changes need reads too
			t.Errorf("%s is %s, want %s", f.Code, f.State, want)
		}
	}
	check(t, r, "access", doctor.Unknown)
}

func TestAnUnreachableClusterMakesEverythingUnknown(t *testing.T) {
	down := fault.New(fault.Unavailable, "down")
	r := examine(t, &fakeCluster{idErr: down, readErr: down}, "5.0.7", topology.Balancer{})
	for _, f := range r.Findings {
		expect.That(t, f.State == doctor.Unknown && len(f.Lacks) == 0, "%s is %s", f.Code, f.State)
	}
}

func TestAnonymousAccessIsOpenUnlessAReadIsRefused(t *testing.T) {
	r := examine(t, &fakeCluster{}, "5.0.7", topology.Balancer{})
	check(t, r, "open", doctor.Warns)
	for code, s := range states(r) {
		expect.That(t, s == doctor.OK, "on an open cluster %s is %s, expected OK", code, s)
	}
	r = examine(t, &fakeCluster{readErr: fault.New(fault.Forbidden, "sign in")}, "5.0.7", topology.Balancer{})
	check(t, r, "anonymous", doctor.Lacks)
	if last := r.Checks[len(r.Checks)-1].Code; last != "anonymous" || len(r.Findings) > 0 || len(doctor.Remedies(r, true)) > 0 {
		t.Errorf("after a refused read the last check is %s, findings are %v", last, r.Findings)
	}
}

func TestGrantsApplyByMongoDBsRules(t *testing.T) {
	db := func(db, coll string) topology.Resource { return topology.Resource{DB: db, Collection: coll} }
	for _, tc := range []struct {
		name   string
		on     topology.Resource
		action string
		ok     []string // features that the grant is enough for
	}{
		{"cluster", topology.Resource{Cluster: true}, "connPoolStats", []string{"members"}},
		{"all databases leave out config", db("", ""), "find", []string{"projects", "locate", "proof", "chunkSizes", "duplicates"}},
		{"a database", db("config", ""), "find",
			[]string{"routing", "identity", "zones", "balancer", "routers", "activity", "rounds", "inflight"}},
		{"a collection", db("config", "tags"), "find", []string{"zones"}},
		{"a collection of every database", db("", "tags"), "find", []string{"zones"}},
		{"another database", db("other", ""), "find", nil},
		{"another action", db("config", ""), "update", []string{"balancerSwitch", "collectionBalancing"}},
		{"every action", db("shop", ""), "anyAction",
			[]string{"unsharded", "sizes", "disks", "projects", "locate", "proof", "chunkSizes", "duplicates",
				"heat", "survey", "split", "merge", "move", "jumbo", "refine", "reshard", "migrations", "compliance"}},
		{"something else", topology.Resource{Other: true, DB: "shop"}, "collStats", nil},
		{"anything", topology.Resource{Any: true}, "connPoolStats", []string{"members"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fakeCluster{id: grants(tc.on, tc.action), readErr: fault.New(fault.Unavailable, "no read to go by")}
			got := states(examine(t, f, "5.0.7", topology.Balancer{}))
			for _, code := range tc.ok {
				expect.Equal(t, got[code], doctor.OK, "%s", code)
				delete(got, code)
			}
			for code, s := range got {
				expect.Equal(t, s, doctor.Lacks, "%s", code)
			}
		})
	}
}

func TestChecksReportUnusualSettingsOfTheCluster(t *testing.T) {
	r := examine(t, &fakeCluster{ahead: 3 * time.Second}, "9.1.0", topology.Balancer{})
	check(t, r, "release", doctor.Warns)
	check(t, r, "clock", doctor.Warns)
	check(t, r, "balancer", doctor.Unknown)
	r = examine(t, &fakeCluster{ahead: -2 * time.Second}, "8.0.12-4",
		topology.Balancer{Known: true, Mode: "full", WindowStart: "01:00", WindowStop: "02:00"})
	check(t, r, "release", doctor.OK)
	check(t, r, "clock", doctor.OK)
	check(t, r, "balancerWindow", doctor.OK)
	check(t, examine(t, &fakeCluster{}, "", topology.Balancer{Known: true, Mode: "off"}), "balancerOff", doctor.OK)
	check(t, examine(t, &fakeCluster{}, "", topology.Balancer{Known: true, Mode: "full"}), "release", doctor.Unknown)
}

func TestRequiredPrivilegesDependOnTheRelease(t *testing.T) {
	for version, want := range map[string]struct{ distribution, byField bool }{
		"5.0.7": {false, true}, "6.0.2": {false, true}, "6.0.3": {true, true}, "8.0.9": {true, true}, "8.0.10-4": {true, false},
	} {
		var distribution, byField bool
		for _, f := range doctor.Features(doctor.ParseRelease(version), profile.Yorkie(), []doctor.Data{{DB: "shop"}}) {
			distribution = distribution || f.Code == "distribution"
			byField = byField || f.Code == "collectionBalancing" && f.Needs[0].On.DB == "config"
		}
		if distribution != want.distribution || byField != want.byField {
			t.Errorf("%s: unexpected states %v and %v", version, distribution, byField)
		}
	}
}

func TestRemediesCombineMissingPrivilegesAndQuoteNames(t *testing.T) {
	lacks := func(change bool, action string, on topology.Resource) doctor.Finding {
		return doctor.Finding{Feature: doctor.Feature{Change: change}, Lacks: []doctor.Privilege{{Action: action, On: on}}}
	}
	evil := topology.Resource{DB: "x\"]);db.dropDatabase()//\u202e\x1b", Collection: ""}
	r := doctor.Report{Findings: []doctor.Finding{
		lacks(true, "find", evil), lacks(true, "moveChunk", topology.Resource{DB: "shop", Collection: ""}),
		lacks(
			false,
			"connPoolStats",
			topology.Resource{Cluster: true},
		), lacks(false, "find", evil), lacks(false, "collStats", evil), lacks(false, "find", evil), {},
	}}
	got := doctor.Remedies(r, true)
	want := []string{
		`db.getSiblingDB("admin").grantPrivilegesToRole("shardboardViewer", [{"resource":{"cluster":true},"actions":["connPoolStats"]},` +
			`{"resource":{"db":"x\"]);db.dropDatabase()//\u202e\u001b","collection":""},"actions":["find","collStats"]}])`,
		`db.getSiblingDB("admin").grantPrivilegesToRole("shardboardOperator", [{"resource":{"db":"shop","collection":""},"actions":["moveChunk"]}])`,
	}
	expect.That(t, slices.Equal(got, want), "%q\nwant %q", got, want)
	expect.EqualSlices(t, doctor.Remedies(r, false), want[:1], "the remedies without actions")
	if all := doctor.Remedies(doctor.Report{Findings: []doctor.Finding{{}}}, true); len(all) > 0 {
		t.Errorf("without missing privileges the remedies are %q", all)
	}
}

func TestTheRemedyGrantsAMissingRole(t *testing.T) {
	look := doctor.Finding{Lacks: []doctor.Privilege{{Action: "connPoolStats", On: topology.Resource{Cluster: true}}}}
	change := doctor.Finding{
		Feature: doctor.Feature{Change: true},
		Lacks:   []doctor.Privilege{{Action: "moveChunk", On: topology.Resource{DB: "shop"}}},
	}
	const (
		viewer   = `db.getSiblingDB("$external").grantRolesToUser("a\"@b", [{"role":"shardboardViewer","db":"admin"}])`
		operator = `db.getSiblingDB("$external").grantRolesToUser("a\"@b", [{"role":"shardboardOperator","db":"admin"}])`
		more     = `db.getSiblingDB("admin").grantPrivilegesToRole("shardboardViewer", [{"resource":{"cluster":true},"actions":["connPoolStats"]}])`
	)
	for _, tc := range []struct {
		name     string
		roles    []string
		findings []doctor.Finding
		actions  bool
		want     []string
	}{
		{"neither, to look", nil, []doctor.Finding{look, change}, false, []string{viewer}},
		{"neither, to change", []string{"shardboardOperator@other"}, []doctor.Finding{look, change}, true, []string{operator}},
		{"a viewer", []string{"shardboardViewer@admin"}, []doctor.Finding{change}, true, []string{operator}},
		{"a viewer that lacks something", []string{"shardboardViewer@admin"}, []doctor.Finding{look, change}, true, []string{more, operator}},
		{"an operator's that does not include the viewer's", []string{"shardboardOperator@admin"}, []doctor.Finding{look}, true,
			[]string{viewer}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := doctor.Report{Users: []string{`a"@b@$external`}, Roles: tc.roles, Findings: tc.findings}
			if got := doctor.Remedies(r, tc.actions); !slices.Equal(got, tc.want) {
				t.Errorf("%q\nwant %q", got, tc.want)
			}
		})
	}
}

// Without inprog somebody should know what may stay on the shards, and nothing else fails for it.
func TestOpenCursorsMayBeReadWithInprogOnly(t *testing.T) {
	for action, want := range map[string]doctor.State{"inprog": doctor.OK, "connPoolStats": doctor.Warns} {
		f := &fakeCluster{id: grants(topology.Resource{Cluster: true}, action)}
		check(t, examine(t, f, "8.0.10", topology.Balancer{}), "cursors", want)
	}
	check(t, examine(t, &fakeCluster{}, "8.0.10", topology.Balancer{}), "cursors", doctor.OK) // no access control
}
