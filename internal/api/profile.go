package api

// Profile is what is known of tenants and documents of this data, and what is proposed while nothing is.
type Profile struct {
	Name     string           `json:"name"`               // of the profile in use
	Kept     bool             `json:"kept"`               // it is a proposal that was kept here
	WhyNot   string           `json:"whyNot,omitempty"`   // why no proposal can be kept here
	Words    ProfileWords     `json:"words"`              // for people
	Proposed *ProposedProfile `json:"proposed,omitempty"` // absent while one fits, or none can be proposed yet
}

// ProfileWords are what the profile in use calls projects and documents; absent: by Yorkie's words.
type ProfileWords struct {
	Tenant    string `json:"tenant,omitempty"`
	Tenants   string `json:"tenants,omitempty"`
	Document  string `json:"document,omitempty"`
	Documents string `json:"documents,omitempty"`
}

// ProposedProfile is a profile made from what is in the cluster.
type ProposedProfile struct {
	File    string   `json:"file"` // name
	Hash    string   `json:"hash"` // SHA-256 of yaml in hex, by which it is kept
	YAML    string   `json:"yaml"` // as --profile reads it
	Reasons []string `json:"reasons"`
	Unread  []string `json:"unread"` // what could not be read
}

// ProfileKeep keeps the proposed profile.
type ProfileKeep struct {
	Hash string `json:"hash"` // of the proposal that was looked at
}
