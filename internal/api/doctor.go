package api

// DoctorReport is what `doctor --json` prints: what the cluster user lacks, for
// which feature. Codes are stable.
type DoctorReport struct {
	OK       bool            `json:"ok"` // nothing that counts is lacking or unknown
	Target   string          `json:"target"`
	Users    []string        `json:"users"`   // signed in as; empty where nobody has to
	Actions  bool            `json:"actions"` // features that change the cluster count too
	Checks   []DoctorCheck   `json:"checks"`
	Features []DoctorFeature `json:"features"`
	Remedies []string        `json:"remedies"` // commands for mongosh that grant what is lacking
}

// DoctorCheck is a fact about the cluster: ok, warns, lacks or unknown.
type DoctorCheck struct {
	Code  string            `json:"code"`
	State string            `json:"state"`
	Args  map[string]string `json:"args,omitempty"`
}

// DoctorFeature is a feature with the privileges it needs, lacks, and has for all
// that is known: "find on config.chunks".
type DoctorFeature struct {
	Code     string   `json:"code"`
	Database string   `json:"database"` // "" = the cluster
	Change   bool     `json:"change"`   // it changes the cluster
	State    string   `json:"state"`    // ok, lacks or unknown
	Needs    []string `json:"needs"`
	Lacks    []string `json:"lacks"`
	Unknown  []string `json:"unknown"`
}
