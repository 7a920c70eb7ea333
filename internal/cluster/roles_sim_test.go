package cluster_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/cluster"
	"shardboard/internal/doctor"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// rolesFixture is a simulated cluster with the roles of the page and one user per role.
type rolesFixture struct {
	sim    *simcluster.Cluster
	roles  []role
	sample sample
	as     map[string]*cluster.Client // by role
	denied map[string]*refusals
}

// withRoles runs a test with the roles of the page for a release.
func withRoles(t *testing.T, version string, test func(*testing.T, *rolesFixture)) {
	t.Helper()
	o := simcluster.Options{Projects: 3, Documents: 20, Still: true, ServerVersion: version,
		Users: []access.User{{Name: "root", Password: "pw"}}}
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		s := &rolesFixture{sim: sim, roles: rolesOf(t, version), sample: collectSample(t, sim), as: map[string]*cluster.Client{},
			denied: map[string]*refusals{}}
		for _, r := range s.roles {
			must.Do(t, run(t, sim, "admin", r.command("createRole")))
			must.Do(t, run(t, sim, "admin", bson.D{{Key: "createUser", Value: r.name}, {Key: "pwd", Value: "pw"},
				{Key: "roles", Value: bson.A{r.name}}}))
			uri := must.Get(cluster.ParseURI(strings.Replace(simcluster.URI(), "mongodb://",
				"mongodb://"+url.UserPassword(r.name, "pw").String()+"@", 1)))
			s.denied[r.name] = &refusals{}
			c := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim, Monitor: s.denied[r.name].monitor()}))
			defer func() { _ = c.Close(context.Background()) }()
			s.as[r.name] = c
		}
		test(t, s)
	})
}

// tryChanges tries every changing command and balancerCollectionStatus. It returns the
// names of the refused ones.
func tryChanges(ctx context.Context, t *testing.T, c *cluster.Client) (refused []string) {
	t.Helper()
	_, err := c.Server(ctx) // some commands depend on the release
	must.Do(t, err)
	for _, a := range allChanges() {
		if fault.Of(a.do(ctx, c)) == fault.Forbidden {
			refused = append(refused, a.name)
		}
	}
	return refused
}

// runReads does all reads that accompany a change: activity, preconditions, proof,
// tracing, counts.
func runReads(ctx context.Context, c *cluster.Client) []string {
	var all complaints
	a, err := c.Activity(ctx, nil)
	all.note("activity", err)
	if err == nil && !a.Known {
		all.note("activity", errors.New(a.Reason))
	}
	step := operation.Step{Op: operation.OpMove, NS: sampleNS, Min: keyOf(bson.MinKey{}), Max: keyOf(bson.MaxKey{}), Shard: "shard-rs-2"}
	_, err = c.Trace(ctx, "run", step, time.Now())
	all.note("trace", err)
	_, err = c.Changelog(ctx, sampleNS, time.Now(), 10)
	all.note("changelog", err)
	for _, kind := range []operation.FactKind{operation.FactCollection, operation.FactChunk, operation.FactEdge, operation.FactCover,
		operation.FactHeld,
		operation.FactZoneRange, operation.FactZoneFree, operation.FactShard, operation.FactShardZone, operation.FactBalancer,
		operation.FactResharded,
		operation.FactResharding, operation.FactDatabase, operation.FactPlace, operation.FactRemains, operation.FactSpare} {
		_, err := c.ReadFact(ctx, operation.Fact{Kind: kind, NS: sampleNS, Min: step.Min, Max: step.Max, Shard: step.Shard, Zone: "z"})
		all.note("read a "+string(kind), err)
	}
	match, err := bson.Marshal(bson.D{{Key: "project_id", Value: bson.D{{Key: "$eq", Value: bson.ObjectID{}}}}})
	all.note("make a filter", err)
	_, err = c.Indexes(ctx, sampleNS)
	all.note("indexes", err)
	_, err = c.CountUpTo(ctx, sampleNS, match, 10)
	all.note("count", err)
	return all.list
}

func keyOf(v any) bson.Raw {
	doc, err := bson.Marshal(bson.D{{Key: "project_id", Value: v}, {Key: "key", Value: v}})
	if err != nil {
		panic(err) // MinKey or MaxKey
	}
	return doc
}

// allChanges lists the operations, and what is only asked for changes.
func allChanges() []attempt {
	return append(changes(), attempt{"Balanced",
		func(ctx context.Context, c *cluster.Client) error { _, _, err := c.Balanced(ctx, sampleNS); return err }})
}

func TestEveryOperationIsTried(t *testing.T) {
	var tried, want []string
	for _, a := range changes() {
		tried = append(tried, a.name)
	}
	for _, op := range operation.Operations() {
		want = append(want, string(op))
	}
	slices.Sort(tried)
	slices.Sort(want)
	expect.That(t, slices.Equal(tried, want), "tried %v, there are %v", tried, want)
}

// releasesOfRoles lists releases with different roles or commands.
func releasesOfRoles() []string {
	if testing.Short() {
		return []string{"5.0.7"}
	}
	return []string{"4.4.29", "5.0.7", "6.0.2", "6.0.3", "7.0.12", "8.0.9", "8.0.10", "8.3.0"}
}

func TestDocumentedRolesAreSufficient(t *testing.T) {
	for _, version := range releasesOfRoles() {
		t.Run(version, func(t *testing.T) {
			withRoles(t, version, func(t *testing.T, s *rolesFixture) {
				for _, name := range []string{doctor.ViewerRole, doctor.OperatorRole} {
					r := newReader(t, s.as[name], discardLog)
					expect.Len(t, r.readEverything(t.Context(), s.sample), 0, "%s", name)
					expect.Len(t, s.denied[name].take(), 0, "%s was denied", name)
					changes := name == doctor.OperatorRole
					if lacks, unknown := missingPrivileges(r.examine(t.Context(), t), changes); len(lacks)+len(unknown) > 0 {
						t.Errorf("%s: the doctor says it lacks %v, and knows too little of %v", name, lacks, unknown)
					}
					s.denied[name].take() // the doctor also tries what only changes need
				}
				expect.Len(t, tryChanges(t.Context(), t, s.as[doctor.OperatorRole]), 0, "the operator was refused")
				expect.Len(t, runReads(t.Context(), s.as[doctor.OperatorRole]), 0, "the operator could not watch a change")
				expect.Len(t, s.denied[doctor.OperatorRole].take(), 0, "the operator was denied")
			})
		})
	}
}

func TestViewerRoleIsRefusedEveryChange(t *testing.T) {
	for _, version := range releasesOfRoles() {
		t.Run(version, func(t *testing.T) {
			withRoles(t, version, func(t *testing.T, s *rolesFixture) {
				v := doctor.ParseRelease(version)
				drains := v[0] > 8 || v[0] == 8 && v[1] >= 3
				since := map[string]int{ // major releases
					"reshardCollection": 5, "commitReshardCollection": 5, "abortReshardCollection": 5, "setMigrations": 5, "moveRange": 6,
					"setChunkSize": 6, "defragment": 6, "setAutoMerge": 6,
					"moveCollection": 8, "unshardCollection": 8, "abortMoveCollection": 8, "abortUnshardCollection": 8,
					"beginDedicated": 8, "dedicate": 8,
				}
				var want []string
				for _, a := range allChanges() {
					if v[0] >= since[a.name] && (drains || a.name != "startShardDraining" && a.name != "stopShardDraining") {
						want = append(want, a.name)
					}
				}
				expect.EqualSlices(t, tryChanges(t.Context(), t, s.as[doctor.ViewerRole]), want, "refused")
			})
		})
	}
}

// Every action of every privilege in the roles is needed: without it a command is
// refused, the program reports it, and the doctor names exactly that privilege.
func TestEveryDocumentedPrivilegeIsNeeded(t *testing.T) {
	releases := []string{"5.0.7"}
	if !testing.Short() { // one of each form of the roles
		releases = append(releases, "6.0.3", "8.0.10")
	}
	for _, version := range releases {
		t.Run(version, func(t *testing.T) {
			withRoles(t, version, func(t *testing.T, s *rolesFixture) {
				for _, whole := range s.roles {
					for n, p := range whole.allPrivileges(t) {
						if testing.Short() && n%5 != 0 {
							continue
						}
						must.Do(t, run(t, s.sim, "admin", whole.without(n).command("updateRole")))
						s.missing(t, whole.name, p)
					}
					must.Do(t, run(t, s.sim, "admin", whole.command("updateRole")))
				}
			})
		})
	}
}

func (s *rolesFixture) missing(t *testing.T, name string, p doctor.Privilege) {
	t.Helper()
	c := s.as[name]
	s.denied[name].take()
	r := newReader(t, c, discardLog)
	var noticed []string
	changes := name == doctor.OperatorRole
	if changes {
		noticed = append(tryChanges(t.Context(), t, c), runReads(t.Context(), c)...)
	} else {
		noticed = r.readEverything(t.Context(), s.sample)
	}
	if denied := s.denied[name].take(); len(denied) == 0 || len(noticed) == 0 {
		t.Errorf("%s without %s: denied %v, noticed %q", name, p, denied, noticed)
	}
	lacks, unknown := missingPrivileges(r.examine(t.Context(), t), changes)
	if !slices.Equal(lacks, []string{p.String()}) || len(unknown) > 0 {
		t.Errorf("%s without %s: the doctor says it lacks %v, and knows too little of %v", name, p, lacks, unknown)
	}
}

func TestDoctorSendsOnlyReads(t *testing.T) {
	cfg := simcluster.Options{Projects: 3, Documents: 20, Still: true, ServerVersion: "8.0.10"}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, sent *counter) {
		r := newReader(t, c, discardLog)
		sent.take()
		report := r.examine(t.Context(), t)
		harmless := []string{"admin.hello", "admin.buildInfo", "admin.connectionStatus", "admin.connPoolStats", "admin.aggregate",
			"config.find", "yorkie-meta.find", "yorkie-meta.aggregate", "yorkie-meta.listCollections", "yorkie-meta.dbStats"}
		all := sent.take()
		for _, name := range all {
			expect.That(t, slices.Contains(harmless, name), "it sent %s", name)
		}
		expect.That(t, len(all) >= 20 && len(all) <= 40, "it sent %d commands: %v", len(all), all)
		if lacks, unknown := missingPrivileges(report, true); len(lacks)+len(unknown) > 0 {
			t.Errorf("without access control it lacks %v and %v", lacks, unknown)
		}
	})
}
