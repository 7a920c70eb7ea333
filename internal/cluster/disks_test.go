package cluster

import (
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func TestShardIsFoundByItsReplicaSetOrElseByAHost(t *testing.T) {
	shards := []topology.Shard{
		{Name: "first", ReplSet: "rs-a", Hosts: []string{"a1:1", "a2:1"}},
		{Name: "rs-a", ReplSet: "rs-b", Hosts: []string{"b1:1"}}, // a name that is another's replica set
		{Name: "alone", Hosts: []string{"c1:1"}},
	}
	for address, want := range map[string]string{
		"rs-a/a1:1,a2:1": "first", "rs-a/a9:1": "first", "rs-b/b1:1": "rs-a", "renamed/a2:1,a3:1": "first",
		"c1:1": "alone", "cfg/x:1": "", "": "", "/": "", "first/z:1": "",
	} {
		expect.Equal(t, ownerOf(address, shards), want, "%q", address)
	}
}

func TestDiskIsKnownOnlyWhenItsShardReportsIt(t *testing.T) {
	at := time.Unix(1000, 0)
	for name, x := range map[string]struct {
		answer string
		reason string // "" = known
		good   bool
	}{
		"recorded":               {`{"db":"d","fsUsedSize":{"$numberDouble":"1.91566036992E+11"},"fsTotalSize":{"$numberDouble":"2.70553174016E+11"},"ok":{"$numberDouble":"1.0"}}`, "", true},
		"whole numbers":          {`{"fsUsedSize":{"$numberLong":"191566036992"},"fsTotalSize":{"$numberLong":"270553174016"}}`, "", true},
		"no such database there": {`{"collections":0,"fsUsedSize":{"$numberInt":"0"},"fsTotalSize":{"$numberInt":"0"},"ok":1}`, "noDisk", true},
		"not told":               {`{"fsUsedSize":{"$numberInt":"-1"},"fsTotalSize":{"$numberInt":"-1"},"ok":1}`, "noDisk", true},
		"nothing of a disk":      {`{"ok":1}`, "noDisk", true},
		"no numbers":             {`{"fsUsedSize":"12","fsTotalSize":"13","ok":1}`, "noDisk", true},
		"infinite":               {`{"fsUsedSize":{"$numberDouble":"Infinity"},"fsTotalSize":{"$numberDouble":"NaN"},"ok":1}`, "noDisk", true},
		"more than there is":     {`{"fsUsedSize":7,"fsTotalSize":6,"ok":1}`, "noDisk", true},
		"a failure":              {`{"ok":{"$numberDouble":"0.0"},"code":6,"errmsg":"no","fsUsedSize":1,"fsTotalSize":2}`, "unreachable", false},
	} {
		d, good := decodeDisk(doc(t, x.answer), at)
		if good != x.good || d.Known() != (x.reason == "") || d.Used.Reason != x.reason || d.Total.Reason != x.reason {
			t.Errorf("%s: %v %+v", name, good, d)
		}
		if d.Known() && (d.Used.Value != 191566036992 || d.Total.Value != 270553174016 || !d.Used.At.Equal(at) || d.Total.Method != "dbStats") {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
