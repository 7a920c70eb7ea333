{{- define "shardboard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "shardboard.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "shardboard.selector" -}}
app.kubernetes.io/name: {{ include "shardboard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "shardboard.labels" -}}
{{ include "shardboard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "shardboard.serviceAccount" -}}
{{- default (include "shardboard.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "shardboard.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* The host in publicURL, without its port. */}}
{{- define "shardboard.host" -}}
{{- index (splitList ":" (index (splitList "/" (trimPrefix "https://" .Values.publicURL)) 0)) 0 }}
{{- end }}

{{/* The path of publicURL; "/" without one. */}}
{{- define "shardboard.path" -}}
/{{ join "/" (rest (splitList "/" (trimPrefix "https://" .Values.publicURL))) }}
{{- end }}

{{/* Not empty if the issuer has authorities of its own. */}}
{{- define "shardboard.issuerAuthority" -}}
{{- if contains "oidc" .Values.auth.mode }}{{ or .Values.auth.oidc.ca.secret .Values.auth.oidc.ca.configMap }}{{ end }}
{{- end }}

{{- define "shardboard.probeScheme" -}}
{{- if index .Values.settings "SHARDBOARD_OPS_TLS_CERT" }}, scheme: HTTPS{{ end }}
{{- end }}

{{- define "shardboard.checkClaims" -}}
{{- if and (gt (int .Values.replicas) 1) (or .Values.persistence.existingClaim .Values.persistence.existingKeysClaim) }}
{{- fail "persistence.existingClaim and existingKeysClaim are for one replica: each replica needs volumes of its own" }}
{{- end }}
{{- end }}
