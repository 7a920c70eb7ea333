package ids

// Label names the form.
func (k Kind) Label() string {
	switch k {
	case ObjectID:
		return "ObjectID"
	case UUID1:
		return "UUID version 1: time, low bits first"
	case UUID3:
		return "UUID version 3: MD5 of a name"
	case UUID4:
		return "UUID version 4: random"
	case UUID5:
		return "UUID version 5: SHA-1 of a name"
	case UUID6:
		return "UUID version 6: time, high bits first"
	case UUID7:
		return "UUID version 7: milliseconds first"
	case UUID8:
		return "UUID version 8: its maker’s own layout"
	case UUIDLocality:
		return "Locality UUID"
	case UUIDNil:
		return "The nil UUID"
	case UUIDMax:
		return "The greatest UUID"
	case UUIDOther:
		return "UUID of no known version"
	}
	return string(k)
}

// Label says what the form means for inserts.
func (i Inserts) Label() string {
	switch i {
	case LastChunk:
		return "Grows with time: every new one goes to the last chunk, so one shard takes all inserts."
	case Spread:
		return "Has no order in time: inserts spread over all chunks."
	case Sweep:
		return "Walks through the whole key space about every 7 minutes: at any moment one chunk takes all inserts."
	case Windowed:
		return "Ids made in one window begin alike: one chunk takes the inserts of that time, then another."
	case OneOf:
		return "In its maker’s default mode inserts spread over all chunks; in sequential mode they stay together. One id does not show which."
	case Undecided:
		return "It does not show how the next one will differ."
	case Even:
		return "Its hash has nothing to do with its order: inserts spread over all chunks."
	}
	return string(i)
}

// Label names the field.
func (p Part) Label() string {
	switch p.Name {
	case "seconds":
		return "seconds since 1970"
	case "process":
		return "random per process"
	case "counterReversed":
		return "counter, digits reversed"
	case "processId":
		return "process id"
	case "macFragment":
		return "end of a MAC address"
	case "milliseconds":
		return "milliseconds since 1970"
	case "ticks":
		return "100 ns since 1582"
	case "clockSequence":
		return "clock sequence"
	case "randomA":
		return "random or counter"
	case "randomB":
		return "random"
	case "nameHash":
		return "hash of a name"
	}
	return p.Name
}
