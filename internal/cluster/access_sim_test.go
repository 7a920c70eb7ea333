package cluster_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// connector connects as a user.
type connector func(user, password string) (*cluster.Client, error)

// withAccessControl runs a test against a small cluster with access control.
func withAccessControl(t *testing.T, version string, users []access.User,
	test func(t *testing.T, sim *simcluster.Cluster, connect connector)) {
	t.Helper()
	o := simcluster.Options{Projects: 3, Documents: 20, Still: true, ServerVersion: version, Users: users}
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		test(t, sim, func(user, password string) (*cluster.Client, error) {
			text := strings.Replace(simcluster.URI(), "mongodb://", "mongodb://"+url.UserPassword(user, password).String()+"@", 1)
			uri := must.Get(cluster.ParseURI(text))
			c, err := cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim})
			if err == nil {
				t.Cleanup(func() { _ = c.Close(context.Background()) })
			}
			return c, err
		})
	})
}

// metaOf reads a collection's metadata with a privileged client.
func metaOf(t *testing.T, c *cluster.Client) topology.Meta {
	t.Helper()
	heads, err := c.Heads(t.Context(), topology.Window{Only: []topology.Namespace{sampleNS}})
	must.Do(t, err)
	if len(heads) != 1 {
		t.Fatalf("%d heads", len(heads))
	}
	return heads[0].Meta
}

// missingPrivilege is the missing privilege that an error names, or "".
func missingPrivilege(t *testing.T, name string, err error) string {
	t.Helper()
	if fault.Of(err) != fault.Forbidden || err == nil {
		return ""
	}
	var d *topology.DeniedError
	if !errors.As(err, &d) || d.Privilege == "" {
		t.Fatalf("%s: %v names no privilege", name, err)
	}
	return d.Privilege
}

// The privilege named by a refusal is sufficient: with only that privilege the same
// attempt works.
func TestGrantingTheNamedPrivilegeIsEnough(t *testing.T) {
	for _, version := range []string{"5.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			users := []access.User{{Name: "root", Password: "pw"}}
			withAccessControl(t, version, users, func(t *testing.T, sim *simcluster.Cluster, connect connector) {
				root, err := connect("root", "pw")
				must.Do(t, err)
				_, err = root.Server(t.Context())
				must.Do(t, err)
				for _, a := range append(readings(metaOf(t, root)), changes()...) {
					name := "only" + a.name
					must.Do(t, run(t, sim, "admin", bson.D{{Key: "createRole", Value: name}, {Key: "privileges", Value: bson.A{}},
						{Key: "roles", Value: bson.A{}}}))
					must.Do(t, run(t, sim, "admin",
						bson.D{{Key: "createUser", Value: name}, {Key: "pwd", Value: "pw"}, {Key: "roles", Value: bson.A{name}}}))
					c, err := connect(name, "pw")
					must.Do(t, err)
					_, err = c.Server(t.Context())
					must.Do(t, err)
					err = a.do(t.Context(), c)
					lacks := missingPrivilege(t, a.name, err)
					if lacks == "" {
						expect.Equal(t, fault.Of(err), fault.NotFound,
							"%s: somebody without any privilege got %v", a.name, err)
						continue // this release does not have it
					}
					must.Do(t, run(t, sim, "admin", bson.D{
						{Key: "grantPrivilegesToRole", Value: name}, {Key: "privileges", Value: parsePrivileges(t, lacks)},
					}))
					expect.Equal(t, missingPrivilege(t, a.name, a.do(t.Context(), c)), "",
						"%s: what it lacks with %s", a.name, lacks)
				}
			})
		})
	}
}

// parsePrivileges parses a sentence like "find on config.shards, and find and update on
// config.tags".
func parsePrivileges(t *testing.T, sentence string) bson.A {
	t.Helper()
	var out bson.A
	var actions []string
	on := false
	for _, word := range strings.Fields(strings.ReplaceAll(sentence, ",", " ")) {
		resource := strings.ContainsAny(word, ".-") || word == "cluster"
		switch {
		case word == "and" || word == "the":
		case word == "on":
			on = true
		case on && resource:
			db, coll, _ := strings.Cut(word, ".")
			r := bson.D{{Key: "db", Value: db}, {Key: "collection", Value: coll}}
			if word == "cluster" {
				r = bson.D{{Key: "cluster", Value: true}}
			}
			out = append(out, bson.D{{Key: "resource", Value: r}, {Key: "actions", Value: slices.Clone(actions)}})
		default:
			if on {
				on, actions = false, nil
			}
			actions = append(actions, word)
		}
	}
	if len(out) == 0 {
		t.Fatalf("%q names nothing that can be granted", sentence)
	}
	return out
}
