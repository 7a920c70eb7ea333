package main

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/docs/playbooks"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
)

// shellBlock are commands; lines for mongosh are tried with mongosh, in test/mongosh.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// refusedWithoutTrouble are beginnings of commands that a check may refuse on a cluster that does not have the
// playbook's problem, with the reason.
var refusedWithoutTrouble = map[string]string{
	"shardboard plan drain-shar": "something may be in the way",
	"shardboard plan remove-sha": "the shard is not empty within a moment",
	"shardboard plan stop-drain": "its command came with 8.3",
	"shardboard plan auto-merge": "it is on",
	"shardboard plan defragment": "it is over at once",
	"shardboard plan split-hot":  "nobody writes to this cluster",
	"shardboard plan refine-key": "the index or the key may be another",
	"shardboard plan reshard-":   "its resharding ends at once",
	"shardboard plan move-coll":  "nothing is being moved",
	"shardboard plan unshard-c":  "nothing is being unsharded",
	"shardboard plan spread":     "the playbook has pinned the project before",
	"shardboard runs undo":       "what was moved a moment ago waits for its clean-up",
}

// TestEveryCommandOfThePlaybooksWorks runs them in their order, each playbook over a cluster of its own, as somebody
// who copies them into a shell in which the names are set.
func TestEveryCommandOfThePlaybooksWorks(t *testing.T) {
	only.Long(t, "starts servers")
	files, err := fs.Glob(playbooks.Files, "*.md")
	must.That(t, err == nil && len(files) >= 7, "%v %v", files, err)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			source := must.Get(playbooks.Files.ReadFile(file))
			reader := readerOfPlaybook(t, file)
			done := 0
			for _, block := range shellBlock.FindAllStringSubmatch(string(source), -1) {
				for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
					reader.copy(t, line)
					done++
				}
			}
			expect.That(t, done >= 5, "%d commands", done)
		})
	}
}

// playbookReader has the plan that was made last, which "run" asks to confirm.
type playbookReader struct {
	plan    api.Plan
	refused bool // the last plan was
}

// readerOfPlaybook starts a server over a cluster with a jumbo chunk, and sets the names that playbooks use.
func readerOfPlaybook(t *testing.T, file string) *playbookReader {
	t.Helper()
	// hot-project: where Yorkie's documents can be refined; the others plan what came with 7.0 and 8.0.
	cluster := startClusterOf(t, map[string]string{"hot-project.md": "8.0", "many-small-chunks.md": "8.0", "unsharded-data.md": "8.0"}[file])
	switch file {
	case "jumbo-chunk.md":
		flagFirstChunk(t, cluster)
	case "balancer-does-nothing.md":
		turnOffBalancing(t, cluster)
	}
	t.Setenv("SHARDBOARD_SERVER", startServerOver(t, cluster))
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("uri", []byte(cluster), 0o600))
	projects := answerOf[api.List[api.Project]](t, "get", "projects")
	chunks := answerOf[api.List[api.Chunk]](t, "get", "chunks", "yorkie-meta.changes", "--shard", "shard-rs-1")
	for name, value := range map[string]string{
		"PROJECT": projects.Items[0].ID, "ID": projects.Items[0].ID, "NS": "yorkie-meta.changes", "CHUNK": chunks.Items[0].Ref,
		"FROM": "shard-rs-1", "TO": "shard-rs-3",
	} {
		t.Setenv(name, value)
	}
	reader := &playbookReader{}
	if file == "drain-shard.md" || file == "many-small-chunks.md" { // which need the balancer
		reader.copy(t, `shardboard plan balancer-on --reason "it has work to do"`)
		reader.copy(t, `shardboard run "$PLAN" --wait`)
	}
	return reader
}

func answerOf[T any](t *testing.T, args ...string) (v T) {
	t.Helper()
	code, out, errs := shardboard(t, append(args, "--output", "json")...)
	err := json.Unmarshal([]byte(out), &v)
	must.That(t, code == 0 && err == nil, "%v: exit %d, %v\n%s", args, code, err, errs)
	return v
}

// configOf is the database config of a cluster.
func configOf(t *testing.T, cluster string) *mongo.Database {
	t.Helper()
	client := must.Get(mongo.Connect(options.Client().ApplyURI(cluster)))
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client.Database("config")
}

// flagFirstChunk makes the first chunk of changes on shard-rs-1 jumbo, as a balancer that could not move it does.
func flagFirstChunk(t *testing.T, cluster string) {
	t.Helper()
	config := configOf(t, cluster)
	var col struct{ UUID bson.Binary }
	changes := config.Collection("collections").FindOne(t.Context(), bson.D{{Key: "_id", Value: "yorkie-meta.changes"}})
	must.Do(t, changes.Decode(&col))
	done, err := config.Collection("chunks").UpdateOne(t.Context(),
		bson.D{{Key: "uuid", Value: col.UUID}, {Key: "shard", Value: "shard-rs-1"}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "jumbo", Value: true}}}})
	must.That(t, err == nil && done.ModifiedCount == 1, "%v %v", done, err)
}

// turnOffBalancing turns off the balancer, which also has a window, and balancing of changes.
func turnOffBalancing(t *testing.T, cluster string) {
	t.Helper()
	config := configOf(t, cluster)
	for _, x := range []struct {
		collection, id string
		set            bson.D
	}{
		{"collections", "yorkie-meta.changes", bson.D{{Key: "noBalance", Value: true}}},
		{"settings", "balancer", bson.D{{Key: "stopped", Value: true}, {Key: "mode", Value: "off"},
			{Key: "activeWindow", Value: bson.D{{Key: "start", Value: "01:00"}, {Key: "stop", Value: "05:00"}}}}},
	} {
		_, err := config.Collection(x.collection).UpdateOne(t.Context(), bson.D{{Key: "_id", Value: x.id}},
			bson.D{{Key: "$set", Value: x.set}}, options.UpdateOne().SetUpsert(x.collection == "settings"))
		must.Do(t, err)
	}
}

// copy runs a line of a playbook, and keeps the ids that the next lines need.
func (r *playbookReader) copy(t *testing.T, line string) {
	t.Helper()
	words := wordsOf(t, line)
	args := words[1:]
	isRun := args[0] == "run"
	switch {
	case words[0] != "shardboard":
		t.Fatalf("%s: no command of shardboard", line)
	case isRun: // what the person at the terminal types
		if args = append(args, "--hash", r.plan.Hash); r.plan.Confirm != nil {
			args = append(args, "--confirm", *r.plan.Confirm)
		}
	}
	if isRun && r.refused { // it would run the plan before
		return
	}
	planned := args[0] == "plan" || len(args) > 1 && args[0] == "runs" && args[1] == "undo"
	if planned || isRun {
		args = append(args, "--json")
	}
	code, out, errs := shardboard(t, args...)
	must.That(t, code == 0 || code == 4 && refusedFor(line), "%s: exit %d, %s\n%s", line, code, errs, out)
	var answered struct{ ID string }
	if planned {
		r.refused = code != 0
	}
	switch {
	case code != 0:
	case planned:
		must.Do(t, json.Unmarshal([]byte(out), &r.plan))
		t.Setenv("PLAN", r.plan.ID)
	case isRun:
		must.Do(t, json.Unmarshal([]byte(out), &answered))
		t.Setenv("RUN", answered.ID)
	}
}

func refusedFor(line string) bool {
	for begin := range refusedWithoutTrouble {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// A name in a playbook that nobody explains would be copied as it is.
func TestThePlaybooksUseKnownNames(t *testing.T) {
	files, err := fs.Glob(playbooks.Files, "*.md")
	must.Do(t, err)
	known := []string{"PROJECT", "ID", "NS", "CHUNK", "FROM", "TO", "PLAN", "RUN"}
	for _, page := range []string{"docs/README.md", "web/help/help.templ"} {
		text := must.Get(os.ReadFile("../../" + page))
		for _, name := range known {
			expect.Contains(t, string(text), "$"+name, "%s does not explain $%s", page, name)
		}
	}
	for _, file := range files {
		source := must.Get(playbooks.Files.ReadFile(file))
		for _, block := range shellBlock.FindAllStringSubmatch(string(source), -1) {
			for _, m := range regexp.MustCompile(`\$([A-Z]+)`).FindAllStringSubmatch(block[1], -1) {
				expect.That(t, slices.Contains(known, m[1]), "%s uses $%s", file, m[1])
			}
		}
	}
}
