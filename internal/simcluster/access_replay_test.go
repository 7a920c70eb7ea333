package simcluster

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/engine/value"
	"shardboard/internal/simcluster/replay"
)

// Runs the recorded commands as eight kinds of users and compares which are allowed,
// and the exact text of every refusal.
func TestEveryKindOfUserIsAnsweredAsRecorded(t *testing.T) {
	for file, release := range map[string]string{"access": "", "8.0/access": "8.0.10"} {
		t.Run(file, func(t *testing.T) { replayAccess(t, file, release) })
	}
}

func replayAccess(t *testing.T, file, release string) {
	c := emptyCluster(t, func(o *Options) {
		o.Users = []access.User{{Name: "root", Password: "root-pw"}}
		o.ServerVersion = release
	})
	peers := map[string]*rawClient{"anonymous": newRawClient(t, c), "root": signedIn(t, c, "root", "root-pw")}
	count := map[string]int{}
	for _, s := range recording(t, file) {
		if s.Kind != "command" {
			continue
		}
		name, _, _ := strings.Cut(s.Note, ": ")
		if strings.HasPrefix(s.Note, "createUser root") {
			count["made by options"]++ // there is no localhost exception
			continue
		}
		if commandName(s.Cmd) == "addShard" {
			count["shards are there"]++
			continue
		}
		var got bson.Raw
		if name == "wrong password" {
			got = newRawClient(t, c).signIn("SCRAM-SHA-256", "viewer", "not the password")
		} else {
			p := peers[name]
			if user, mechanism, by := strings.Cut(name, " by "); by {
				p = newRawClient(t, c)
				wantOK(t, p.signIn(mechanism, user, user+"-pw"))
			} else if p == nil {
				p = signedIn(t, c, name, name+"-pw")
				peers[name] = p
			}
			got = p.runRaw(s.Cmd, appendedFields(t, s)...)
		}
		count["compared"]++
		want, failed := s.answer()
		if failed {
			count["refusals and errors"]++
		}
		for _, k := range []string{"ok", "code", "codeName", "errmsg"} {
			if w, g := value.Field(want.Value, k), value.Field(got, k); !value.Identical(w, g) {
				t.Errorf("%d %s: %s is %s\n want %s", s.N, s.Note, k, value.Text(g), value.Text(w))
			}
		}
		if failed {
			continue
		}
		switch commandName(s.Cmd) {
		case "connectionStatus":
			count["privilege lists"]++
			w, g := identityLines(t, want.Value), identityLines(t, got)
			if !slices.Equal(w, g) {
				only := func(a, b []string) string {
					return strings.Join(slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) }), "\n     ")
				}
				t.Errorf("%d %s:\n got %s\nwant %s", s.N, s.Note, only(g, w), only(w, g))
			}
		case "listDatabases":
			if w, g := names(value.Field(want.Value, "databases")), names(got.Lookup("databases")); !slices.Equal(w, g) {
				t.Errorf("%d %s: %v, want %v", s.N, s.Note, g, w)
			}
		case "listCollections":
			// The order is that of a hash table.
			w, g := rowsOf(want.Value), rowsOf(got)
			expect.That(t, slices.Equal(w, g), "%d %s: %s, want %s", s.N, s.Note, g, w)
		}
	}
	t.Logf("%v", count)
	expect.That(t, count["compared"] >= 470 && count["privilege lists"] == 10, "compared only %v", count)
}

// rowsOf are the rows of a first batch, sorted.
func rowsOf(reply bson.Raw) (rows []string) {
	for v := range value.Items(reply.Lookup("cursor", "firstBatch")) {
		rows = append(rows, v.String())
	}
	slices.Sort(rows)
	return rows
}

func names(list bson.RawValue) []string {
	var out []string
	for v := range value.Items(list) {
		out = append(out, v.Document().Lookup("name").StringValue())
	}
	return out
}

// identityLines returns the reply of connectionStatus with sorted lists, because the
// server's order is that of a hash table. The order of a privilege's actions is kept.
func identityLines(t testing.TB, reply bson.Raw) []string {
	t.Helper()
	info, ok := reply.Lookup("authInfo").DocumentOK()
	must.That(t, ok, "no authInfo")
	var lines []string
	for key, list := range value.Elements(info) {
		lines = append(lines, key)
		for v := range value.Items(list) {
			lines = append(lines, key+" "+shellText(v.Document()))
		}
	}
	slices.Sort(lines)
	return lines
}

var recordedTail = regexp.MustCompile(`lsid: \{ id: UUID\("([0-9a-f-]+)"\) \}, \$clusterTime: \{ clusterTime: Timestamp\((\d+), (\d+)\), signature: \{ hash: BinData\(0, ([0-9A-F]+)\), keyId: (-?\d+) \} \}, \$db: "([^"]*)" \}$`)

// appendedFields holds the fields that the recording client appended to a command. A
// refusal quotes them.
func appendedFields(t testing.TB, s step) []bson.E {
	t.Helper()
	db := bson.E{Key: "$db", Value: s.DB}
	if s.Error == nil {
		return []bson.E{db}
	}
	m := recordedTail.FindStringSubmatch(s.Error.Lookup("errmsg").StringValue())
	if m == nil {
		return []bson.E{db}
	}
	session, err := hex.DecodeString(strings.ReplaceAll(m[1], "-", ""))
	must.Do(t, err)
	hash, err := hex.DecodeString(m[4])
	must.Do(t, err)
	var seconds, i uint32
	_, _ = fmt.Sscan(m[2], &seconds)
	_, _ = fmt.Sscan(m[3], &i)
	key := must.Get(strconv.ParseInt(m[5], 10, 64))
	return []bson.E{
		{Key: "lsid", Value: d("id", bson.Binary{Subtype: bson.TypeBinaryUUID, Data: session})},
		{Key: "$clusterTime", Value: d("clusterTime", bson.Timestamp{T: seconds, I: i},
			"signature", d("hash", bson.Binary{Data: hash}, "keyId", key))},
		db,
	}
}

// step is one line of a recording of a real 5.0.7 cluster: a command with its reply or
// error, or a dump of a config collection.
type step struct {
	N     int
	Kind  string
	Note  string
	DB    string
	Cmd   bson.Raw
	Reply bson.RawValue
	Error bson.Raw
}

// answer returns the recorded reply, or the server's reply inside an error.
func (s step) answer() (reply bson.RawValue, failed bool) {
	if s.Error == nil {
		return s.Reply, false
	}
	if raw, ok := s.Error.Lookup("raw").DocumentOK(); ok {
		return value.Doc(raw), true
	}
	return value.Doc(s.Error), true
}

func recording(t testing.TB, name string) (steps []step) {
	t.Helper()
	for line, err := range replay.Lines(filepath.Join("testdata", "recordings", name+".jsonl.gz")) {
		var s step
		if err == nil {
			err = bson.Unmarshal(line, &s)
		}
		must.Do(t, err)
		steps = append(steps, s)
	}
	return steps
}
