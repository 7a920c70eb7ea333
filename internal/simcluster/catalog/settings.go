package catalog

import (
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/jsonschema"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
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
	AutoSplit   bool // shards split chunks that grow too big
	AutoMerge   bool // 7.0
	// Refused is the first value that the server does not accept: it skips every round while there is one. "" for none.
	Refused string
}

// Window is when the balancer may run: activeWindow, or the windows of activeWindowDOW (8.3). Without any it always
// may.
type Window []span

// span is a window in minutes after midnight, of one day or of every day.
type span struct {
	day         string
	start, stop int
}

// Settings returns the current settings. The caller holds Mu.
func (c *Cluster) Settings() Settings { return c.set }

// ChunkSize is the maximum chunk size in bytes. The caller holds Mu.
func (c *Cluster) ChunkSize() int64 { return c.set.ChunkSizeMB << 20 }

// Balancing reports whether balancer rounds move chunks now.
func (s Settings) Balancing(now time.Time) bool {
	return s.Refused == "" && !s.Stopped && s.Mode == "full" && s.Window.open(now)
}

// open reports whether now is inside the window. Both ends are included; start > stop
// wraps around midnight.
func (w Window) open(now time.Time) bool {
	m := now.Hour()*60 + now.Minute()
	for _, s := range w {
		inside := m >= s.start || m <= s.stop
		if s.start <= s.stop {
			inside = m >= s.start && m <= s.stop
		}
		if inside && (s.day == "" || s.day == now.Weekday().String()) {
			return true
		}
	}
	return len(w) == 0
}

func (c *Cluster) readSettings() Settings {
	s := Settings{Mode: "full", ChunkSizeMB: 64, AutoSplit: c.splits(), AutoMerge: c.since(7)}
	if c.since(6) {
		s.ChunkSizeMB = 128
	}
	for _, doc := range c.config.all("settings") {
		switch id, _ := doc.Lookup("_id").StringValueOK(); id {
		case "balancer":
			c.readBalancer(doc, &s)
		case "chunksize":
			v := doc.Lookup("value")
			f, isDouble := v.DoubleOK()
			if n, ok := asInt64(v); ok && n >= 1 && n <= 1024 && (!isDouble || f == float64(n)) {
				s.ChunkSizeMB = n
			} else {
				s.refuse("chunksize.value")
			}
		case "automerge":
			if c.since(7) {
				s.AutoMerge = s.boolean(doc, "automerge.enabled", "enabled")
			}
		case "autosplit":
			if c.splits() {
				s.AutoSplit = s.boolean(doc, "autosplit.enabled", "enabled")
			}
		}
	}
	return s
}

// bySchema reports whether the balancer's settings are read by a schema, and have windows of days (8.3).
func (c *Cluster) bySchema() bool { return c.release.AtLeast(8, 3, 0) }

// splits reports whether shards split chunks that grew (to 6.0.2).
func (c *Cluster) splits() bool { return !c.release.AtLeast(6, 0, 3) }

func (c *Cluster) readBalancer(doc bson.Raw, s *Settings) {
	if c.bySchema() {
		doc = withoutNulls(doc) // as the schema reads them
	}
	s.Stopped = s.flag(doc, "stopped")
	mode := doc.Lookup("mode")
	switch m, ok := mode.StringValueOK(); {
	case mode.Type == 0, s.Stopped && !c.bySchema():
	case m == "full", m == "off", m == "autoSplitOnly" && !c.since(7):
		s.Mode = m
	case ok && c.since(7) && !c.bySchema():
		s.Mode = "off" // 7.0 to 8.2 warn in the log
	default:
		s.refuse("balancer.mode")
	}
	s.WaitDelete = s.flag(doc, "_waitForDelete")
	s.ForceJumbo = s.flag(doc, "attemptToBalanceJumboChunks")
	switch throttle := doc.Lookup("_secondaryThrottle"); throttle.Type {
	case 0, bson.TypeBoolean, bson.TypeEmbeddedDocument:
	default:
		s.refuse("balancer._secondaryThrottle")
	}
	if list := doc.Lookup("activeWindowDOW"); list.Type == bson.TypeArray && c.bySchema() {
		for v := range value.Items(list) {
			w, _ := v.DocumentOK()
			one, ok := readSpan(w)
			if one.day, _ = w.Lookup("day").StringValueOK(); !ok || !strings.Contains(" Sunday Monday Tuesday Wednesday Thursday Friday Saturday ",
				" "+one.day+" ") {
				s.refuse("balancer.activeWindowDOW")
			}
			s.Window = append(s.Window, one)
		}
	} else if v := doc.Lookup("activeWindowDOW"); c.bySchema() && v.Type != 0 {
		s.refuse("balancer.activeWindowDOW")
	}
	if v := doc.Lookup("activeWindow"); v.Type != 0 {
		w, _ := v.DocumentOK()
		_, text1 := w.Lookup("start").StringValueOK()
		_, text2 := w.Lookup("stop").StringValueOK()
		one, ok := readSpan(w)
		if !text1 || !text2 || !ok && len(s.Window) == 0 {
			s.refuse("balancer.activeWindow")
		}
		if len(s.Window) == 0 {
			s.Window = Window{one}
		}
	}
}

func withoutNulls(doc bson.Raw) bson.Raw {
	b := value.NewBuilder(len(doc))
	for name, v := range value.Elements(doc) {
		if v.Type != bson.TypeNull {
			b.Append(name, v)
		}
	}
	return b.Raw()
}

func (s *Settings) refuse(field string) {
	if s.Refused == "" {
		s.Refused = field
	}
}

// flag reads a field of the balancer that is a boolean or a number; false if it is missing.
func (s *Settings) flag(doc bson.Raw, field string) bool {
	v := doc.Lookup(field)
	switch v.Type {
	case 0, bson.TypeBoolean, bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
	default:
		s.refuse("balancer." + field)
	}
	return truthy(v)
}

// boolean reads a field that must be there.
func (s *Settings) boolean(doc bson.Raw, name, field string) bool {
	on, ok := doc.Lookup(field).BooleanOK()
	if !ok {
		s.refuse(name)
	}
	return on
}

// readSpan reads a window; it is valid only if both ends are given, are times and differ.
func readSpan(doc bson.Raw) (s span, ok bool) {
	start, ok1 := minutes(doc.Lookup("start"))
	stop, ok2 := minutes(doc.Lookup("stop"))
	return span{start: start, stop: stop}, ok1 && ok2 && start != stop
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
	doc := value.D("_id", id)
	if _, raw := c.config.find("settings", id); raw != nil {
		_ = bson.Unmarshal(raw, &doc)
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
	c.config.put("settings", doc)
	c.set = c.readSettings()
}

// writeVersion writes the only document of config.version.
func (c *Cluster) writeVersion() {
	id := c.opts.ClusterID
	if id.IsZero() {
		id = c.objectID(configServer)
	}
	c.config.insert("version", value.D("_id", int32(1),
		value.When(!c.since(7), "minCompatibleVersion", int32(5), "currentVersion", int32(6)), "clusterId", id))
}

// PingRouter writes the router's row of config.mongos, as mongos does every 10 s. The
// caller holds Mu for writing.
func (c *Cluster) PingRouter() {
	now := c.Now()
	v := c.opts.Version
	doc := value.D("_id", c.opts.Hostname+":27099", "advisoryHostFQDNs", bson.A{},
		value.When(v.AtLeast(5, 2, 0), "created", bson.NewDateTimeFromTime(c.clock.epoch)),
		"mongoVersion", fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]), "ping", bson.NewDateTimeFromTime(now),
		"up", int64(now.Sub(c.clock.epoch).Seconds()), "waiting", true)
	c.config.put("mongos", doc)
}

// settingsSchema is the schema of config.settings in 8.0, as its listCollections shows it.
var settingsSchema = func() bson.Raw {
	is := func(kind string) bson.D { return value.D("bsonType", kind) }
	id := func(names ...string) bson.E {
		return bson.E{Key: "_id", Value: value.D("enum", names)}
	}
	only := func(properties ...bson.E) bson.D {
		return value.D("properties", bson.D(properties), "additionalProperties", false)
	}
	return encode(bson.D{{Key: "oneOf", Value: bson.A{
		only(id("balancer"),
			bson.E{Key: "mode", Value: value.D("enum", bson.A{"full", "off"})},
			bson.E{Key: "stopped", Value: is("bool")},
			bson.E{Key: "activeWindow", Value: value.D("bsonType", "object", "required", bson.A{"start", "stop"})},
			bson.E{Key: "_secondaryThrottle", Value: value.D("oneOf", bson.A{is("bool"), is("object")})},
			bson.E{Key: "_waitForDelete", Value: is("bool")},
			bson.E{Key: "attemptToBalanceJumboChunks", Value: is("bool")}),
		only(id("chunksize"), bson.E{Key: "value", Value: value.D("bsonType", "number", "minimum", int32(1),
			"maximum", int32(1024))}),
		value.D("properties", bson.D{id("automerge", "ReadWriteConcernDefaults", "audit")}),
	}}})
}()

// CheckDocument refuses a document that a client wants to write into a collection whose schema it does not satisfy:
// config.settings has one in 8.0.
func (c *Cluster) CheckDocument(coll *engine.Coll, doc bson.Raw) error {
	if !c.since(8) || c.bySchema() || coll.DB != "config" || coll.Name != "settings" {
		return nil
	}
	details := jsonschema.Check(settingsSchema, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc})
	if len(details) == 0 {
		return nil
	}
	err := status.Errorf(status.DocumentValidationFailure, "Document failed validation")
	err.Extra = value.D("errInfo", value.D("failingDocumentId", doc.Lookup("_id"),
		"details", value.D("operatorName", "$jsonSchema", "schemaRulesNotSatisfied", details)))
	return err
}
