package balance

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// defaultChunkBytes is the chunk size where config.settings has none: 64 MB up to 5.x, 128 MB from 6.0; 0 if the
// release is not known.
func (r Release) defaultChunkBytes() int64 {
	switch {
	case !r.Known():
		return 0
	case r.AtLeast(6, 0, 0):
		return 128 << 20
	}
	return 64 << 20
}

// mostUnread bounds how many values that are not read are listed.
const mostUnread = 20

// ReadSettings reads the rows of config.settings as the balancer of a release does (s/balancer_configuration.cpp of 4.4
// to 8.3). No rows mean the defaults: on, no window. A value that the server refuses, and one that it does not
// read, are listed. Of an unknown release everything is read that some release reads.
func ReadSettings(rows []bson.Raw, of Release) topology.Balancer {
	b := topology.Balancer{Known: true, Mode: "full", ChunkDefault: true, ChunkBytes: of.defaultChunkBytes()}
	for _, row := range rows {
		if len(b.Unread) >= mostUnread {
			b.Unread = b.Unread[:mostUnread]
		}
		if row.Validate() != nil {
			b.Unread = append(b.Unread, "a row that cannot be decoded")
			continue
		}
		fields, _ := row.Elements()
		id, _ := row.Lookup("_id").StringValueOK()
		r := settingsRow{doc: id, of: of, b: &b, fields: map[string]bson.RawValue{}}
		for _, f := range slices.Backward(fields) { // the server takes the first of two
			r.fields[f.Key()] = f.Value()
		}
		r.read(row.Lookup("_id"))
		for _, f := range fields {
			if _, left := r.fields[f.Key()]; left && !r.known {
				b.Unread = append(b.Unread, strings.TrimPrefix(id+"."+f.Key(), "."))
				delete(r.fields, f.Key())
			}
		}
	}
	return b
}

// settingsRow is one document of config.settings; what has been read is taken out of fields.
type settingsRow struct {
	doc    string
	of     Release
	b      *topology.Balancer
	fields map[string]bson.RawValue
	known  bool // the whole document is known, and is none of the balancer's
}

func (r *settingsRow) read(id bson.RawValue) {
	delete(r.fields, "_id")
	switch r.doc {
	case "balancer":
		r.balancer()
	case "chunksize":
		v, _ := r.take("value")
		if mb, ok := wholeNumber(v); ok && mb >= 1 && mb <= 1024 {
			r.b.ChunkBytes, r.b.ChunkDefault = mb<<20, false
		} else {
			r.refuse("value", v, "It must be a whole number of megabytes from 1 to 1024.")
		}
	case "autosplit": // rows of older releases stay after an upgrade
		if v, _ := r.take("enabled"); r.of.AutoSplits() {
			r.b.AutoSplitOff = r.switchedOff(v)
		}
	case "automerge":
		if r.of.Known() && !r.of.AtLeast(7, 0, 0) {
			return
		}
		v, _ := r.take("enabled")
		r.b.AutoMergeOff = r.switchedOff(v)
	case "ReadWriteConcernDefaults", "audit":
		r.known = true
	default:
		r.known = true
		name := r.doc
		if id.Type != bson.TypeString {
			name = id.String()
		}
		r.b.Unread = append(r.b.Unread, name)
	}
}

// balancer reads the settings of the balancer itself. When stopped is set the mode is not looked at, up to 8.2.
func (r *settingsRow) balancer() {
	b := r.b
	b.Stopped = r.flag("stopped")
	if v, ok := r.take("mode"); ok && (!b.Stopped || r.strict()) {
		mode, isText := v.StringValueOK()
		switch {
		case !isText:
			r.refuse("mode", v, "It must be full or off.")
		case mode == "full", mode == "off", mode == "autoSplitOnly" && !r.of.AtLeast(7, 0, 0):
			b.Mode = mode
		default:
			b.Mode = mode
			r.refuse("mode", v, "This release knows full and off.")
		}
	}
	if b.Stopped {
		b.Mode = "off"
	}
	r.windows()
	if v, ok := r.take("_secondaryThrottle"); ok {
		switch v.Type {
		case bson.TypeBoolean, bson.TypeEmbeddedDocument:
			b.SecondaryThrottle = textOf(v)
		default:
			r.refuse("_secondaryThrottle", v, "It must be true, false or a write concern.")
		}
	}
	b.WaitForDelete = r.flag("_waitForDelete")
	b.ForceJumbo = r.flag("attemptToBalanceJumboChunks")
}

// windows reads activeWindow and, from 8.3 on, activeWindowDOW, which goes before it and is then the only one whose
// times are looked at.
func (r *settingsRow) windows() {
	if !r.of.Known() || r.strict() {
		if v, ok := r.take("activeWindowDOW"); ok {
			r.days(v)
		}
	}
	v, ok := r.take("activeWindow")
	if !ok {
		return
	}
	doc, isDoc := v.DocumentOK()
	start, ok1 := doc.Lookup("start").StringValueOK()
	stop, ok2 := doc.Lookup("stop").StringValueOK()
	from, ok3 := topology.ClockMinutes(start)
	to, ok4 := topology.ClockMinutes(stop)
	byDay := len(r.b.Days) > 0 || r.b.Refuses("activeWindowDOW")
	switch {
	case !isDoc || !ok1 || !ok2:
		r.refuse("activeWindow", v, "It needs a start and a stop.")
	case byDay && (!ok3 || !ok4 || from == to): // not looked at
	case !ok3 || !ok4:
		r.refuse("activeWindow", v, "Its start and stop must be times from 0:00 to 23:59.")
	case from == to:
		r.refuse("activeWindow", v, "Its start and stop must be different times.")
	default:
		r.b.WindowStart, r.b.WindowStop = start, stop
	}
}

func (r *settingsRow) days(v bson.RawValue) {
	refuse := func(why string) {
		r.b.Days = nil
		r.refuse("activeWindowDOW", v, why)
	}
	list, ok := v.ArrayOK()
	values, err := list.Values()
	if !ok || err != nil {
		refuse("It must be a list of windows.")
		return
	}
	for _, v := range values {
		doc, _ := v.DocumentOK()
		name, ok1 := doc.Lookup("day").StringValueOK()
		start, ok2 := doc.Lookup("start").StringValueOK()
		stop, ok3 := doc.Lookup("stop").StringValueOK()
		day, ok4 := topology.Weekday(name)
		from, ok5 := topology.ClockMinutes(start)
		to, ok6 := topology.ClockMinutes(stop)
		switch {
		case !ok1 || !ok2 || !ok3 || !ok4:
			refuse("Each window needs a day such as Monday, a start and a stop.")
			return
		case !ok5 || !ok6:
			refuse("Each start and stop must be a time from 0:00 to 23:59.")
			return
		case from == to:
			refuse("Start and stop of a window must be different times.")
			return
		}
		r.b.Days = append(r.b.Days, topology.DayWindow{Day: day, Start: start, Stop: stop})
	}
}

// strict tells whether the release reads the balancer's document by a schema (8.3): null counts as missing, and every
// field is looked at.
func (r *settingsRow) strict() bool { return r.of.AtLeast(8, 3, 0) }

// take is a field's value, and whether there is one.
func (r *settingsRow) take(field string) (bson.RawValue, bool) {
	v, ok := r.fields[field]
	delete(r.fields, field)
	return v, ok && !(r.strict() && v.Type == bson.TypeNull)
}

// flag reads a field that is a boolean or a number; false if it is missing.
func (r *settingsRow) flag(field string) bool {
	v, ok := r.take(field)
	if !ok {
		return false
	}
	if on, is := v.BooleanOK(); is {
		return on
	}
	n, is := number(v)
	if !is {
		r.refuse(field, v, "It must be true or false.")
	}
	return n != 0
}

// switchedOff reads enabled of a document of its own, which must be there and be a boolean.
func (r *settingsRow) switchedOff(v bson.RawValue) bool {
	on, ok := v.BooleanOK()
	if !ok {
		r.refuse("enabled", v, "It must be true or false.")
	}
	return ok && !on
}

func (r *settingsRow) refuse(field string, v bson.RawValue, why string) {
	r.b.Refused = append(r.b.Refused, topology.RefusedSetting{Doc: r.doc, Field: field, Value: textOf(v), Why: why})
}

// textOf is a value as Extended JSON, in one line and cut; "" for none.
func textOf(v bson.RawValue) string {
	if v.Type == 0 {
		return ""
	}
	return sanitize.Line(sanitize.Truncate(v.String(), 200))
}

func number(v bson.RawValue) (float64, bool) {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64:
		n, ok := v.AsInt64OK()
		return float64(n), ok
	case bson.TypeDouble:
		return v.DoubleOK()
	case bson.TypeDecimal128:
		d, _ := v.Decimal128OK()
		n, err := strconv.ParseFloat(d.String(), 64)
		return n, err == nil
	}
	return 0, false
}

func wholeNumber(v bson.RawValue) (int64, bool) {
	n, ok := number(v)
	return int64(n), ok && n == math.Trunc(n) && math.Abs(n) < 1<<53
}
