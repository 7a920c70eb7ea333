package catalog

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// step is one line of a recording of a real cluster: a command with its reply, or the
// documents of a config collection.
type step struct {
	N     int             `json:"n"`
	Kind  string          `json:"kind"`
	Note  string          `json:"note"`
	DB    string          `json:"db"`
	Cmd   json.RawMessage `json:"cmd"`
	Reply json.RawMessage `json:"reply"`
	Error *struct {
		Code     int32  `json:"code"`
		CodeName string `json:"codeName"`
		Errmsg   string `json:"errmsg"`
	} `json:"error"`
}

func readLines(t *testing.T, name string, each func(line []byte)) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", "recordings", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		each(s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

func readSteps(t *testing.T, name string) []step {
	t.Helper()
	var steps []step
	readLines(t, name, func(line []byte) {
		var s step
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	})
	return steps
}

func rawJSON(t *testing.T, text []byte) bson.Raw {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON(text, true, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return raw
}

// doc makes a document from extended JSON.
func doc(t *testing.T, text string) bson.Raw { return rawJSON(t, []byte(text)) }

// compareReply compares a reply with the recorded one; errors by code, name and text.
func (p *replayer) compareReply(s step, reply bson.D, err error) {
	p.t.Helper()
	if s.Error == nil {
		if err != nil {
			p.t.Errorf("n %d %s: %s\n got error %v", s.N, s.Note, truncate(s.Cmd), err)
			return
		}
		want, got := comparableText(rawJSON(p.t, s.Reply)), comparableText(encode(reply))
		if want != got {
			p.t.Errorf("n %d %s: %s\n got  %s\n want %s", s.N, s.Note, truncate(s.Cmd), got, want)
		}
		return
	}
	e := status.Of(err)
	if e == nil {
		p.t.Errorf("n %d %s: %s\n got no error, want %q", s.N, s.Note, truncate(s.Cmd), s.Error.Errmsg)
		return
	}
	code, name := e.Code, e.Name
	if e.NoCode {
		code, name = 0, ""
	}
	if code != s.Error.Code || name != s.Error.CodeName || e.Message != s.Error.Errmsg {
		p.t.Errorf("n %d %s: %s\n got  %d %s %q\n want %d %s %q", s.N, s.Note, truncate(s.Cmd), code, name, e.Message,
			s.Error.Code, s.Error.CodeName, s.Error.Errmsg)
	}
}

func truncate(b []byte) string {
	if len(b) > 300 {
		b = b[:300]
	}
	return string(b)
}

var varying = regexp.MustCompile(`^(step \d of \d|validAfter|lastmodEpoch|lastmodTimestamp|(prevShardVersion|mergedVersion)(Epoch|Timestamp)|oldEpoch|newEpoch|uuid|timestamp|millis|topologyTime|numBalancerRounds|host|time|clusterId|collectionUUID|reshardingUUID|tempNs|minFetchTimestamp|cloneTimestamp|sourceUUID|approxBytesToCopy)$`)

// sampled matches values that the server chose at random: split points of a resharding
// and the name of its temporary collection.
var sampled = regexp.MustCompile(`^(client-\d+|yorkie-meta\.system\.resharding\..*)$`)

// withoutRandomValues removes values that differ from run to run.
func withoutRandomValues(v any) any {
	switch v := v.(type) {
	case bson.D:
		out := bson.D{}
		if len(v) == 2 && v[0].Key == "project_id" && withoutRandomValues(v[1].Value) == "*" {
			return "*"
		}
		for _, e := range v {
			switch e.Key {
			case "ok", "$clusterTime", "operationTime":
				continue
			case "_id":
				if _, is := e.Value.(bson.ObjectID); is {
					e.Value = "*"
				}
			case "version":
				if s, is := e.Value.(string); is {
					e.Value, _, _ = strings.Cut(s, "||")
				}
			case "lastmod":
				if _, is := e.Value.(bson.DateTime); is {
					e.Value = "*"
				}
			}
			if varying.MatchString(e.Key) {
				e.Value = "*"
			}
			out = append(out, bson.E{Key: e.Key, Value: withoutRandomValues(e.Value)})
		}
		return out
	case string:
		if sampled.MatchString(v) {
			return "*"
		}
	case bson.A:
		out := bson.A{}
		for _, e := range v {
			out = append(out, withoutRandomValues(e))
		}
		return out
	}
	return v
}

func comparableText(raw bson.Raw) string {
	var d bson.D
	if err := bson.Unmarshal(raw, &d); err != nil {
		return err.Error()
	}
	out, err := bson.MarshalExtJSON(withoutRandomValues(d), true, false)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
