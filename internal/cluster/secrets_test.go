package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"shardboard/internal/cluster"
	"shardboard/internal/doctor"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
)

// canary is the value of every secret field in the test data.
const canary = "canary-8c21"

// secretNames are parts of the names of fields with secret or private data in any
// release of Yorkie.
var secretNames = []string{"secret", "password", "token", "webhook", "metadata"}

// insertSecrets writes the canary into all secret fields.
func insertSecrets(t *testing.T, sim *simcluster.Cluster) {
	t.Helper()
	for coll, set := range map[string]bson.D{
		"projects":     {{Key: "secret_key", Value: canary}, {Key: "auth_webhook_url", Value: canary}, {Key: "event_webhook_url", Value: canary}},
		"clients":      {{Key: "metadata", Value: bson.D{{Key: "userID", Value: canary}}}},
		"users":        {{Key: "hashed_password", Value: canary}},
		"invites":      {{Key: "token", Value: canary}},
		"clusternodes": {{Key: "lease_token", Value: canary}},
	} {
		// Insert new rows: secret keys are unique, and some of these collections are empty.
		must.Do(t, run(t, sim, "yorkie-meta", bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: bson.A{append(bson.D{
			{Key: "_id", Value: bson.NewObjectID()}, {Key: "project_id", Value: bson.NewObjectID()},
			{Key: "name", Value: "planted"}, {Key: "username", Value: "planted"}, {Key: "public_key", Value: "planted"}}, set...)}}}))
	}
}

// secretsMonitor checks every command and every reply.
type secretsMonitor struct {
	mu      sync.Mutex
	checked map[string]int // commands on the data, by collection
	faults  []string
}

func (e *secretsMonitor) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, s *event.CommandStartedEvent) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if err := e.check(s.DatabaseName, s.Command); err != nil {
				e.faults = append(e.faults, fmt.Sprintf("%v: %s", err, s.Command))
			}
		},
		Succeeded: func(_ context.Context, s *event.CommandSucceededEvent) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if bytes.Contains(s.Reply, []byte(canary)) {
				e.faults = append(e.faults, "the answer has a secret: "+s.Reply.String())
			}
		},
		Failed: func(_ context.Context, f *event.CommandFailedEvent) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if strings.Contains(f.Failure.Error(), canary) {
				e.faults = append(e.faults, "the refusal has a secret: "+f.Failure.Error())
			}
		},
	}
}

// check returns an error for a command that could return a secret.
func (e *secretsMonitor) check(db string, cmd bson.Raw) error {
	if err := checkFieldNames(cmd); err != nil {
		return err
	}
	if db == "admin" || db == "config" {
		return nil
	}
	first := cmd.Index(0)
	coll, _ := first.Value().StringValueOK()
	e.checked[coll]++
	return checkProjection(cmd)
}

// checkProjection returns an error unless a command returns only named fields.
func checkProjection(cmd bson.Raw) error {
	switch first := cmd.Index(0); first.Key() {
	case "find":
		return checkInclusion(cmd.Lookup("projection"))
	case "aggregate":
		stages, err := cmd.Lookup("pipeline").Array().Values()
		if err != nil || len(stages) == 0 {
			return fmt.Errorf("no stages: %v", err)
		}
		for len(stages) > 1 { // sorting and limiting do not reveal contents
			if key := stages[len(stages)-1].Document().Index(0).Key(); key != "$sort" && key != "$limit" {
				break
			}
			stages = stages[:len(stages)-1]
		}
		last := stages[len(stages)-1].Document()
		switch stage := last.Index(0); stage.Key() {
		case "$project":
			return checkInclusion(stage.Value())
		case "$group":
			return checkOnlyNumbers(stage.Value().Document())
		}
		return fmt.Errorf("whole documents come out")
	case "explain":
		if verbosity, _ := cmd.Lookup("verbosity").StringValueOK(); verbosity != "queryPlanner" {
			return fmt.Errorf("it is executed")
		}
		return nil
	case "listCollections":
		if !cmd.Lookup("nameOnly").Boolean() {
			return fmt.Errorf("more than names")
		}
		return nil
	case "getMore", "killCursors", "dbStats", "dataSize": // the last two return only sums
		return nil
	default:
		return fmt.Errorf("nobody said that %s is harmless", first.Key())
	}
}

// checkInclusion checks that a projection is an inclusion.
func checkInclusion(v bson.RawValue) error {
	doc, ok := v.DocumentOK()
	if !ok {
		return fmt.Errorf("no projection")
	}
	named := 0
	elements, err := doc.Elements()
	if err != nil {
		return err
	}
	for _, el := range elements {
		switch n, _ := el.Value().AsInt64OK(); {
		case n == 1:
			named++
		case isDocumentSize(el.Value()):
		case n != 0 || el.Key() != "_id" || el.Value().Type != bson.TypeInt32:
			return fmt.Errorf("%s is no inclusion", el)
		}
	}
	if named == 0 {
		return fmt.Errorf("nothing is named, so all comes")
	}
	return nil
}

// checkFieldNames returns an error for names of secret fields, as field names or paths.
func checkFieldNames(doc bson.Raw) error {
	elements, err := doc.Elements()
	if err != nil {
		return err
	}
	for _, el := range elements {
		text := el.Key()
		if s, ok := el.Value().StringValueOK(); ok && strings.HasPrefix(s, "$") {
			text += " " + s
		}
		for _, name := range secretNames {
			if strings.Contains(text, name) {
				return fmt.Errorf("%s is asked for", text)
			}
		}
		if el.Value().Type == bson.TypeEmbeddedDocument || el.Value().Type == bson.TypeArray {
			if err := checkFieldNames(el.Value().Value); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestSecretsAreNeitherRequestedNorReceivedNorLogged(t *testing.T) {
	cfg := simcluster.Options{Projects: 3, Documents: 20, Still: true}
	onSim(t, cfg, func(t *testing.T, sim *simcluster.Cluster, _ *cluster.Client, _ *counter) {
		s := collectSample(t, sim)
		insertSecrets(t, sim)
		s.questions = append(s.questions, "planted")
		e := secretsMonitor{checked: map[string]int{}}
		c, end := connectBy(t, cluster.Options{Dialer: sim, Monitor: e.monitor()})
		defer end()
		var log bytes.Buffer
		r := newReader(t, c, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		expect.Len(t, r.readEverything(t.Context(), s), 0, "complaints")
		r.examine(t.Context(), t)
		for _, fault := range e.faults {
			t.Error(fault)
		}
		for _, coll := range []string{"projects", "documents", "clients", "schemas", "revisions", "changes", "snapshots",
			"snapshot_bodies", "versionvectors"} {
			expect.That(t, e.checked[coll] != 0, "nothing was asked of %s", coll)
		}
		checkNoCommandQuoted(t, log.String())
	})
}

// A refusal quotes the command with the user's search terms, so it must not be logged.
func TestRefusedCommandsAreNotLogged(t *testing.T) {
	withRoles(t, "5.0.7", func(t *testing.T, s *rolesFixture) {
		insertSecrets(t, s.sim)
		viewer := s.roles[0]
		for n, p := range viewer.allPrivileges(t) {
			if p.On.Collection == "projects" {
				must.Do(t, run(t, s.sim, "admin", viewer.without(n).command("updateRole")))
			}
		}
		var log bytes.Buffer
		r := newReader(t, s.as[doctor.ViewerRole], slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if complaints := r.readEverything(t.Context(), s.sample); len(complaints) == 0 ||
			strings.Contains(fmt.Sprint(complaints), "execute command") {
			t.Errorf("%q", complaints)
		}
		expect.Contains(t, log.String(), "missing privilege find on yorkie-meta.projects",
			"the log does not say what is the matter")
		checkNoCommandQuoted(t, log.String())
	})
}

func TestDriverLogsNoCommandWhateverTheEnvironmentSays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "driver.log")
	t.Setenv("MONGODB_LOG_ALL", "debug")
	t.Setenv("MONGODB_LOG_PATH", path)
	cfg := simcluster.Options{Projects: 3, Documents: 20, Still: true}
	onSim(t, cfg, func(t *testing.T, _ *simcluster.Cluster, c *cluster.Client, _ *counter) {
		_, err := c.DocumentsByKey(t.Context(), "yorkie-meta", profile.Yorkie().Keys, placement.ObjectIDValue(bson.NewObjectID()), canary, 5)
		must.Do(t, err)
	})
	log := must.Get(os.ReadFile(path))
	expect.That(t, bytes.Contains(log, []byte("Connection")), "the driver logs nothing, so this shows nothing")
	expect.That(t, !bytes.Contains(log, []byte(canary)) && !bytes.Contains(log, []byte("Command started")), "%s", log)
}

func checkNoCommandQuoted(t *testing.T, log string) {
	t.Helper()
	expect.LacksAll(t, log, []string{canary, "execute command", "filter:", "projection", "pipeline"}, "the log")
}
