package expr

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// parseDate reads common ISO 8601 forms; without a zone the text is UTC.
func parseDate(s string) (time.Time, error) {
	for _, layout := range [...]string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700", "2006-01-02T15:04:05.999", "2006-01-02T15:04Z07:00",
		"2006-01-02T15:04", "2006-01-02 15:04:05.999Z07:00", "2006-01-02 15:04:05.999", "2006-01-02 15:04", "2006-01-02",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Truncate(time.Millisecond), nil
		}
	}
	return time.Time{}, status.Errorf(status.ConversionFailure, "Error parsing date string '%s'", s)
}

// dateFromString holds dateString, timezone, onError, onNull.
type dateFromString [4]node

func parseDateFromString(c *compiler, op string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(40540, "%s only supports an object as an argument, found: %s", op, TypeName(arg))
	}
	args, err := c.named(arg, []string{"dateString", "timezone", "onError", "onNull"}, func(f string) error {
		return status.Errorf(40541, "Unrecognized argument to %s: %s", op, f)
	})
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return nil, status.Errorf(40542, "Missing 'dateString' parameter to %s", op)
	}
	return dateFromString(args), nil
}

func (n dateFromString) eval(c *evaluation) (bson.RawValue, error) {
	text, err := n[0].eval(c)
	if err != nil {
		return text, err
	}
	zone, given, err := c.optional(n[1])
	if err != nil || given && nullish(zone) {
		return orNull(zone), err
	}
	if nullish(text) {
		v, given, err := c.optional(n[3])
		if !given {
			v = value.Null()
		}
		return v, err
	}
	t, err := dateFromText(text, zone)
	if err != nil && n[2] != nil {
		return n[2].eval(c)
	}
	return dateValue(t.UnixMilli()), err
}

func dateFromText(text, zone bson.RawValue) (time.Time, error) {
	if text.Type != bson.TypeString {
		return time.Time{}, status.Errorf(status.ConversionFailure,
			"$dateFromString requires that 'dateString' be a string, found: %s with value %s", TypeName(text), Text(text))
	}
	loc, err := location(zone)
	if err != nil {
		return time.Time{}, err
	}
	t, err := parseDate(str(text))
	if err != nil || zone.Type == 0 {
		return t, err
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc), nil
}
