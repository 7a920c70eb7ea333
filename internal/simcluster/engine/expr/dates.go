package expr

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func dateOperators(name string) parser {
	switch name {
	case "$year", "$month", "$dayOfMonth", "$dayOfWeek", "$dayOfYear", "$hour", "$minute", "$second",
		"$millisecond", "$week", "$isoWeek", "$isoWeekYear", "$isoDayOfWeek":
		return parseDatePart
	}
	return nil
}

// parseDatePart takes {$year: date} and {$year: {date: …, timezone: …}}.
func parseDatePart(c *compiler, name string, arg bson.RawValue) (node, error) {
	if arg.Type == bson.TypeEmbeddedDocument {
		if key, _, n := soleField(arg.Value); n > 0 && !strings.HasPrefix(key, "$") {
			args, err := c.named(arg, []string{"date", "timezone"}, func(f string) error {
				return status.Errorf(40535, "unrecognized option to %s: \"%s\"", name, f)
			})
			if err != nil {
				return nil, err
			}
			if args[0] == nil {
				return nil, status.Errorf(40539, "missing 'date' argument to %s, provided: %s", name, Text(arg))
			}
			if args[1] == nil {
				args = args[:1]
			}
			return call{name, args, evalDatePart}, nil
		}
	}
	args, err := c.operands(arg)
	if err != nil {
		return nil, err
	}
	if len(args) != 1 {
		return nil, status.Errorf(40536, "%s accepts exactly one argument if given an array, but was given %d", name, len(args))
	}
	return call{name, args, evalDatePart}, nil
}

func evalDatePart(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	zone := bson.RawValue{}
	if len(args) == 2 {
		if nullish(args[1]) {
			return value.Null(), nil
		}
		zone = args[1]
	}
	if nullish(args[0]) {
		return value.Null(), nil
	}
	t, err := dateIn(args[0], zone)
	if err != nil {
		return missing(), err
	}
	if name == "$isoWeekYear" {
		year, _ := t.ISOWeek()
		return value.Int64(int64(year)), nil
	}
	return value.Int32(int32(datePart(name, t))), nil
}

func datePart(name string, t time.Time) int {
	switch name {
	case "$year":
		return t.Year()
	case "$month":
		return int(t.Month())
	case "$dayOfMonth":
		return t.Day()
	case "$dayOfWeek":
		return int(t.Weekday()) + 1
	case "$dayOfYear":
		return t.YearDay()
	case "$hour":
		return t.Hour()
	case "$minute":
		return t.Minute()
	case "$second":
		return t.Second()
	case "$millisecond":
		return t.Nanosecond() / int(time.Millisecond)
	case "$week": // weeks begin on Sunday; days before the first one are week 0
		return (t.YearDay() - 1 + 7 - int(t.Weekday())) / 7
	case "$isoWeek":
		_, week := t.ISOWeek()
		return week
	}
	return (int(t.Weekday())+6)%7 + 1 // $isoDayOfWeek
}

// dateIn is the time a date, timestamp or ObjectId stands for, in a zone
// (missing = UTC).
func dateIn(v, zone bson.RawValue) (time.Time, error) {
	loc, err := location(zone)
	if err != nil {
		return time.Time{}, err
	}
	switch v.Type {
	case bson.TypeDateTime:
		return time.UnixMilli(millis(v)).In(loc), nil
	case bson.TypeTimestamp:
		t, _ := v.Timestamp()
		return time.Unix(int64(t), 0).In(loc), nil
	case bson.TypeObjectID:
		return v.ObjectID().Timestamp().In(loc), nil
	}
	return time.Time{}, status.Errorf(16006, "can't convert from BSON type %s to Date", TypeName(v))
}

// location reads "Europe/Paris", "UTC", "Z", "+03", "+0530" and "-05:30".
func location(v bson.RawValue) (*time.Location, error) {
	if v.Type == 0 {
		return time.UTC, nil
	}
	if v.Type != bson.TypeString {
		return nil, status.Errorf(40517, "timezone must evaluate to a string, found %s", TypeName(v))
	}
	name := str(v)
	switch name {
	case "", "Local":
		return nil, status.Errorf(40485, "unrecognized time zone identifier: \"%s\"", name)
	case "Z", "GMT":
		return time.UTC, nil
	}
	if name[0] == '+' || name[0] == '-' {
		for _, layout := range [...]string{"-07", "-0700", "-07:00"} {
			if t, err := time.Parse(layout, name); err == nil {
				_, offset := t.Zone()
				return time.FixedZone(name, offset), nil
			}
		}
	} else if loc, err := time.LoadLocation(name); err == nil {
		return loc, nil
	}
	return nil, status.Errorf(40485, "unrecognized time zone identifier: \"%s\"", name)
}
