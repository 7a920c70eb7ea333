package api

// DoctorReport is the output of `doctor --json`: which privileges the cluster user lacks for which
// feature. Codes are stable.
type DoctorReport struct {
	OK       bool            `json:"ok"` // nothing relevant is missing or unknown
	Target   string          `json:"target"`
	Users    []string        `json:"users"`   // signed-in users; empty without access control
	Actions  bool            `json:"actions"` // features that change the cluster are relevant too
	Checks   []DoctorCheck   `json:"checks"`
	Features []DoctorFeature `json:"features"`
	Remedies []string        `json:"remedies"` // mongosh commands that grant the missing privileges
}

// DoctorCheck is a fact about the cluster: ok, warns, lacks or unknown.
type DoctorCheck struct {
	Code  string            `json:"code"`
	State string            `json:"state"`
	Args  map[string]string `json:"args,omitempty"`
}

// DoctorFeature is a feature with the privileges it needs, those it lacks and those that are
// unknown, like "find on config.chunks".
type DoctorFeature struct {
	Code     string   `json:"code"`
	Database string   `json:"database"` // "" = the cluster
	Change   bool     `json:"change"`   // it changes the cluster
	State    string   `json:"state"`    // ok, lacks or unknown
	Needs    []string `json:"needs"`
	Lacks    []string `json:"lacks"`
	Unknown  []string `json:"unknown"`
}
