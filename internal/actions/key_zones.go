package actions

import (
	"encoding/json"
	"strconv"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
)

// zoneJSON is a KeyZone in JSON.
type zoneJSON struct {
	Min  json.RawMessage `json:"min"`
	Max  json.RawMessage `json:"max"`
	Zone string          `json:"zone"`
}

// readZones reads a list of zone ranges. The empty list means that there are to be none,
// which is not the same as no list.
func readZones(name string, raw json.RawMessage) ([]operation.KeyZone, error) {
	var list []zoneJSON
	if err := readValue(name, raw, &list); err != nil {
		return nil, err
	}
	zones := []operation.KeyZone{}
	for i, in := range list {
		at := name + "[" + strconv.Itoa(i) + "]."
		if err := checkText(at+"zone", in.Zone); err != nil {
			return nil, err
		}
		out := operation.KeyZone{Zone: in.Zone}
		var err error
		if out.Min, err = readKey(at+"min", in.Min); err != nil {
			return nil, err
		}
		if out.Max, err = readKey(at+"max", in.Max); err != nil {
			return nil, err
		}
		if out.Min == nil || out.Max == nil || out.Zone == "" {
			return nil, fault.New(fault.Invalid, "The argument %q needs min, max and zone in each range; range %d lacks one.", name, i+1)
		}
		zones = append(zones, out)
	}
	return zones, nil
}

func writeZones(zones []operation.KeyZone) []zoneJSON {
	out := []zoneJSON{}
	for _, z := range zones {
		out = append(out, zoneJSON{Min: keyJSON(z.Min), Max: keyJSON(z.Max), Zone: z.Zone})
	}
	return out
}
