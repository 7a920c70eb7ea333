package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/answer/locating"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/topology"
)

// canary is a secret that must not be disclosed. Each one is stored where a real secret
// would be, and its text tells which one it is.
type canary string

// The secrets of a cluster with Yorkie's data and of the person who starts shardboard.
const (
	canarySecretKey    canary = "canary-a1-secret-key"
	canaryAuthWebhook  canary = "https://canary-b2-auth-webhook.invalid/hook"
	canaryEventWebhook canary = "https://canary-c3-event-webhook.invalid/hook"
	canaryHash         canary = "$2a$10$canary-d4-hashed-password"
	canaryMetadata     canary = "canary-e5-client-metadata@person.invalid"
	canaryInvite       canary = "canary-f6-invite-token"
	canaryLease        canary = "canary-g7-lease-token"
	canarySnapshot     canary = "canary-h8-what-somebody-wrote"
	canaryPassword     canary = "canary-i9-uri-password"
	canaryEnvironment  canary = "canary-j0-environment"
)

var canaries = []canary{canarySecretKey, canaryAuthWebhook, canaryEventWebhook, canaryHash, canaryMetadata, canaryInvite,
	canaryLease, canarySnapshot, canaryPassword, canaryEnvironment}

// checkNoCanaries fails the test if the output of a place contains a canary, either
// plain or encoded for URLs or JSON, in base64 or in hexadecimal.
func checkNoCanaries(t testing.TB, place string, said []byte, birds ...canary) {
	t.Helper()
	for _, c := range birds {
		for _, form := range c.encodings() {
			if i := bytes.Index(said, []byte(form)); i >= 0 {
				t.Errorf("%s says %s: %.160q", place, c, said[max(i-60, 0):])
				break
			}
		}
	}
}

func (c canary) encodings() []string {
	quoted, _ := json.Marshal(string(c)) // a string
	out := []string{string(c), strings.Trim(string(quoted), `"`), url.QueryEscape(string(c)), url.PathEscape(string(c)),
		hex.EncodeToString([]byte(c))}
	// Base64 encodes a text in one of three ways, depending on its offset.
	for skip := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, skip), c...))
		out = append(out, coded[4:len(coded)-4])
	}
	return out
}

func TestCanariesAreFoundInEveryEncoding(t *testing.T) {
	for _, said := range []string{
		string(canaryAuthWebhook), url.QueryEscape(string(canaryAuthWebhook)),
		base64.StdEncoding.EncodeToString([]byte("x:" + canaryAuthWebhook)),
		base64.StdEncoding.EncodeToString([]byte(canaryAuthWebhook)), hex.EncodeToString([]byte(canaryAuthWebhook)),
		fmt.Sprintf("%q", string(canaryAuthWebhook)),
	} {
		probe := &failureCounter{TB: t}
		checkNoCanaries(probe, "x", []byte("before "+said+" after"), canaries...)
		expect.That(t, probe.found == 1, "%d canaries found in %s", probe.found, said)
	}
}

// failureCounter counts failures instead of failing the test.
type failureCounter struct {
	testing.TB
	found int
}

func (f *failureCounter) Helper()               {}
func (f *failureCounter) Errorf(string, ...any) { f.found++ }

// capture stores what several goroutines write.
type capture struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *capture) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

func (o *capture) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.all.Bytes())
}

func (o *capture) String() string { return string(o.bytes()) }

// storeCanaries writes the canaries into the data.
func storeCanaries(t *testing.T, driver *mongo.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	db := driver.Database("yorkie-meta")
	set := func(coll string, fields ...any) {
		t.Helper()
		var change bson.D
		for i := 0; i < len(fields); i += 2 {
			change = append(change, bson.E{Key: fields[i].(string), Value: fields[i+1]})
		}
		res, err := db.Collection(coll).UpdateMany(ctx, bson.D{}, bson.D{{Key: "$set", Value: change}})
		must.Do(t, err)
		must.That(t, res.MatchedCount != 0, "the collection %s is empty", coll)
	}
	for coll, row := range map[string]bson.D{"users": {{Key: "username", Value: "jo"}}, "invites": {{Key: "role", Value: "admin"}},
		"clusternodes": {{Key: "rpc_addr", Value: "a:1"}}, "snapshots": {{Key: "doc_id", Value: bson.NewObjectID()}}} {
		must.Do(t, must.Err(db.Collection(coll).InsertOne(ctx, row)))
	}
	set("projects", "auth_webhook_url", canaryAuthWebhook, "event_webhook_url", canaryEventWebhook)
	cursor, err := db.Collection("projects").Find(ctx, bson.D{}, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
	must.Do(t, err)
	var ids []struct {
		ID bson.ObjectID `bson:"_id"`
	}
	must.Do(t, cursor.All(ctx, &ids))
	for i, row := range ids { // the field must be unique
		key := string(canarySecretKey) + fmt.Sprint(i)
		_, err := db.Collection("projects").UpdateByID(ctx, row.ID,
			bson.D{{Key: "$set", Value: bson.D{{Key: "secret_key", Value: key}}}})
		must.Do(t, err)
	}
	set("users", "hashed_password", canaryHash)
	set("clients", "metadata", bson.D{{Key: "userID", Value: canaryMetadata}})
	set("invites", "token", canaryInvite)
	set("clusternodes", "lease_token", canaryLease)
	set("snapshots", "snapshot", []byte(canarySnapshot))
	set("changes", "operations", bson.A{[]byte(canarySnapshot)}, "message", canarySnapshot)
}

// startWithCanaries starts a dashboard with a password over a cluster full of canaries.
// heard captures its log at the lowest level, read all answers of the cluster.
func startWithCanaries(t *testing.T) (d *demo, heard, read *capture) {
	t.Helper()
	heard, read = &capture{}, &capture{}
	t.Setenv("SHARDBOARD_CANARY", string(canaryEnvironment))
	d = &demo{addr: "127.0.0.1:0"}
	d.restartCluster(t, simcluster.Options{Projects: 5, Documents: 60, Still: true,
		Users: []access.User{{Name: "root", Password: string(canaryPassword)}}})
	t.Cleanup(func() { _ = d.sim.Close() })
	uri := "mongodb://root:" + url.QueryEscape(string(canaryPassword)) + "@" + d.addr + "/?directConnection=true"
	driver := must.Get(mongo.Connect(options.Client().ApplyURI(uri)))
	t.Cleanup(func() { _ = driver.Disconnect(context.Background()) })
	d.driver = driver
	storeCanaries(t, driver)
	parsed := must.Get(cluster.ParseURI(uri))
	checkNoCanaries(t, "the address as it is printed",
		fmt.Appendf(nil, "%v %+v %#v %s %q", parsed, parsed, parsed, parsed, &parsed), canaries...)
	d.config = Config{URI: parsed, Listen: "127.0.0.1:0", Version: "test", Auth: Auth{Mode: "none"},
		Watcher: topology.Options{Statistics: time.Second, StatisticsPerSecond: 100},
		Log:     slog.New(slog.NewTextHandler(heard, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Cluster: cluster.Options{Timeout: time.Second, Monitor: &event.CommandMonitor{
			Started:   func(_ context.Context, e *event.CommandStartedEvent) { _, _ = read.Write(e.Command) },
			Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { _, _ = read.Write(e.Reply) },
		}},
	}
	d.serve(t)
	d.config.Listen = d.app.Addr()
	d.waitReady(t)
	return d, heard, read
}

func TestNoSecretIsDisclosed(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d, heard, read := startWithCanaries(t)
	said := &capture{}
	asked := d.requestEverything(t, said)
	readLiveFrames(t, d, said)
	found, err := Locate(t.Context(), d.config,
		LocateQuery{Text: "507f1f77bcf86cd799439011", Extras: locating.LocateExtras{Why: true, Prove: true, Counts: true}})
	fmt.Fprint(said, found, err)
	_ = d.driver.Disconnect(t.Context()) // while the cluster still answers
	d.stopCluster(t)
	for _, target := range []string{"/", "/locate?q=jo", "/api/v1/locate?q=jo", "/api/v1/cluster", "/readyz", "/metrics"} {
		d.request(t, said, "GET", target, "*/*", "")
	}
	_, err = Locate(t.Context(), d.config, LocateQuery{Text: "507f1f77bcf86cd799439011"})
	fmt.Fprintf(said, "%v %+v %#v", err, err, err)
	wrong, err := cluster.ParseURI("mongodb://root:" + string(canaryPassword) + "@" + d.addr + "/?nonsense=%zz")
	fmt.Fprintf(said, "%v %+v %#v", wrong, err, err)
	checkNoCanaries(t, "an answer", said.bytes(), canaries...)
	checkNoCanaries(t, "the log", heard.bytes(), canaries...)
	checkNoCanaries(t, "what was read from the cluster", read.bytes(), canaries...)
	if line, err := os.ReadFile("/proc/self/cmdline"); err == nil {
		checkNoCanaries(t, "the command line", line, canaries...)
	}
	expect.That(t, asked >= 40 && len(heard.bytes()) >= 1000 && len(read.bytes()) >= 10_000,
		"too little was checked: %d addresses, %d bytes of log, %d bytes read", asked, len(heard.bytes()), len(read.bytes()))
}

// requestEverything requests every documented address with every method and in each
// format, with valid and invalid input, and returns the number of requests.
func (d *demo) requestEverything(t *testing.T, said io.Writer) int {
	t.Helper()
	_, doc := d.get(t, "api/openapi.json")
	v := d.app.Watcher().Table()
	project := ""
	if ps := d.app.current().only.now().keeper.Directory().All(); len(ps) > 0 {
		project = ps[0].ID.Hex()
	}
	changes := v.Collection("yorkie-meta.changes")
	ref := ""
	var chunks struct{ Items []struct{ Ref string } }
	_, list := d.get(t, "api/v1/collections/"+string(changes.NS)+"/chunks?limit=1")
	if json.Unmarshal(list, &chunks) == nil && len(chunks.Items) > 0 {
		ref = chunks.Items[0].Ref
	}
	asked := 0
	fill := strings.NewReplacer("{ref}", ref, "{name}", "shard-rs-1", "{ns}", string(changes.NS), "{id}", project, "{level}", "0",
		"{index}", "0", "{file}", "x")
	bad := strings.NewReplacer("{ref}", "x.y", "{name}", "none", "{ns}", "yorkie-meta.users", "{id}", "zzz", "{file}", "..")
	for path, methods := range documentedPaths(t, doc) {
		for method := range methods {
			for _, target := range []string{fill.Replace(path), bad.Replace(path),
				fill.Replace(path) + "?q=" + project + "&why=1&prove=1&counts=1&limit=1000&kind=all",
				fill.Replace(path) + "?ns=yorkie-meta.users&key=%7B%7D&limit=x"} {
				for _, accept := range []string{"text/html", "application/json", "text/csv"} {
					for _, text := range []string{"", `{"lines":["` + project + `","jo"]}`, "lines=jo"} {
						by := map[bool]string{true: "text/html", false: "application/json"}[strings.HasPrefix(text, "lines=")]
						if text != "" && (method == "get" || accept != by) {
							continue // browsers send forms, programs JSON
						}
						asked++
						d.request(t, said, strings.ToUpper(method), target, accept, text)
					}
				}
			}
		}
	}
	return asked
}

// request writes the answer's status, headers and body to said.
func (d *demo) request(t *testing.T, said io.Writer, method, target, accept, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(d.app.URL(), "/")+target, strings.NewReader(text))
	must.Do(t, err)
	r.Header.Set("Accept", accept)
	r.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(text, "lines=") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(r)
	must.Do(t, err)
	defer res.Body.Close()
	fmt.Fprint(said, res.Status, res.Header)
	must.Do(t, must.Err(io.Copy(said, res.Body)))
}

// readLiveFrames writes the first frame of every topic to said.
func readLiveFrames(t *testing.T, d *demo, said io.Writer) {
	t.Helper()
	topics := []string{"overview", "collections", "projects", "zones", "activity", "collection:yorkie-meta.changes", "shard:shard-rs-1",
		"project:" + d.app.current().only.now().keeper.Directory().All()[0].ID.Hex()}
	for topic, frame := range firstFrames(t, d.app, topics, http.Header{}) {
		fmt.Fprint(said, topic, frame)
	}
}
