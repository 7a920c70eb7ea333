package catalog

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// Settings are the simulated documents of config.settings, as the server reads them
// (s/balancer_configuration.cpp).
type Settings struct {
	Stopped     bool
	Mode        string // full, autoSplitOnly, off
	Window      Window
	WaitDelete  bool
	ForceJumbo  bool // attemptToBalanceJumboChunks
	ChunkSizeMB int64
	AutoSplit   bool
	AutoMerge   bool // 7.0
}

// Window is the balancer's activeWindow in minutes after midnight; Set is false without
// a window.
type Window struct {
	Set         bool
	Start, Stop int
}

// Settings returns the current settings. The caller holds Mu.
func (c *Cluster) Settings() Settings { return c.set }

// ChunkSize is the maximum chunk size in bytes. The caller holds Mu.
func (c *Cluster) ChunkSize() int64 { return c.set.ChunkSizeMB << 20 }

// Balancing reports whether balancer rounds move chunks now.
func (s Settings) Balancing(now time.Time) bool {
	return !s.Stopped && s.Mode == "full" && s.Window.open(now)
}

// Splitting reports whether shards split chunks that grow too big.
func (s Settings) Splitting() bool {
	return s.AutoSplit
}

// open reports whether now is inside the window. Both ends are included; start > stop
// wraps around midnight.
func (w Window) open(now time.Time) bool {
	if !w.Set {
		return true
	}
	m := now.Hour()*60 + now.Minute()
	if w.Start <= w.Stop {
		return w.Start <= m && m <= w.Stop
	}
	return m >= w.Start || m <= w.Stop
}

func (c *Cluster) readSettings() Settings {
	s := Settings{Mode: "full", ChunkSizeMB: c.features.chunkSizeMB, AutoSplit: c.features.autoSplit, AutoMerge: c.features.autoMerge}
	c.config.each("settings", func(_ engine.RecordID, doc bson.Raw) {
		switch id, _ := doc.Lookup("_id").StringValueOK(); id {
		case "balancer":
			s.Stopped = truthy(doc.Lookup("stopped"))
			if m, ok := doc.Lookup("mode").StringValueOK(); ok {
				s.Mode = m
			}
			s.WaitDelete = truthy(doc.Lookup("_waitForDelete"))
			s.ForceJumbo = truthy(doc.Lookup("attemptToBalanceJumboChunks"))
			s.Window = readWindow(doc)
		case "chunksize":
			if n, ok := asInt64(doc.Lookup("value")); ok && n >= 1 && n <= 1024 {
				s.ChunkSizeMB = n
			}
		case "automerge":
			s.AutoMerge = c.features.autoMerge && truthy(doc.Lookup("enabled"))
		case "autosplit":
			s.AutoSplit = c.features.autoSplit && truthy(doc.Lookup("enabled"))
		}
	})
	return s
}

// readWindow reads a window; it is valid only if both ends are given, are times and
// differ.
func readWindow(doc bson.Raw) Window {
	start, ok1 := minutes(doc.Lookup("activeWindow", "start"))
	stop, ok2 := minutes(doc.Lookup("activeWindow", "stop"))
	if !ok1 || !ok2 || start == stop {
		return Window{}
	}
	return Window{Set: true, Start: start, Stop: stop}
}

func minutes(v bson.RawValue) (int, bool) {
	s, ok := v.StringValueOK()
	if !ok {
		return 0, false
	}
	var h, m int
	if _, err := fmt.Sscanf(s, "%d:%d", &h, &m); err != nil || h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	return h*60 + m, true
}

// setSetting updates a settings document like an upsert with $set.
func (c *Cluster) setSetting(id string, fields bson.D) {
	var found engine.RecordID
	var doc bson.D
	c.config.each("settings", func(rid engine.RecordID, raw bson.Raw) {
		if s, _ := raw.Lookup("_id").StringValueOK(); s == id {
			found = rid
			_ = bson.Unmarshal(raw, &doc)
		}
	})
	fresh := doc == nil
	if fresh {
		doc = bson.D{{Key: "_id", Value: id}}
	}
next:
	for _, f := range fields {
		for i := range doc {
			if doc[i].Key == f.Key {
				doc[i].Value = f.Value
				continue next
			}
		}
		doc = append(doc, f)
	}
	if fresh {
		c.config.insert("settings", doc)
	} else {
		c.config.update("settings", found, doc)
	}
	c.set = c.readSettings()
}

// writeVersion writes the only document of config.version.
func (c *Cluster) writeVersion() {
	id := c.opts.ClusterID
	if id.IsZero() {
		id = c.objectID(configServer)
	}
	d := bson.D{{Key: "_id", Value: int32(1)}}
	if !c.features.clusterIDOnly {
		d = append(d, bson.E{Key: "minCompatibleVersion", Value: int32(5)}, bson.E{Key: "currentVersion", Value: int32(6)})
	}
	c.config.insert("version", append(d, bson.E{Key: "clusterId", Value: id}))
}

// PingRouter writes the router's row of config.mongos, as mongos does every 10 s. The
// caller holds Mu for writing.
func (c *Cluster) PingRouter() {
	now := c.Now()
	v := c.opts.Version
	doc := bson.D{
		{Key: "_id", Value: c.opts.Router},
		{Key: "advisoryHostFQDNs", Value: bson.A{}},
	}
	if v[0] > 5 || v[0] == 5 && v[1] >= 2 {
		doc = append(doc, bson.E{Key: "created", Value: bson.NewDateTimeFromTime(c.clock.epoch)})
	}
	doc = append(doc,
		bson.E{Key: "mongoVersion", Value: fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])},
		bson.E{Key: "ping", Value: bson.NewDateTimeFromTime(now)},
		bson.E{Key: "up", Value: int64(now.Sub(c.clock.epoch).Seconds())},
		bson.E{Key: "waiting", Value: true})
	found, have := engine.RecordID(0), false
	c.config.each("mongos", func(id engine.RecordID, raw bson.Raw) {
		if s, _ := raw.Lookup("_id").StringValueOK(); s == c.opts.Router {
			found, have = id, true
		}
	})
	if have {
		c.config.update("mongos", found, doc)
	} else {
		c.config.insert("mongos", doc)
	}
}
