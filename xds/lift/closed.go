package lift

import "github.com/meshproof/meshproof/internal/messages"

// Why fields of a filter change no decision, or are named elsewhere.
const (
	counted  = "it names, counts or logs decisions"
	replayed = "it says how often the filter judges"
	apart    = "the reader looks at it by itself, or it refuses more only"
	unsaid   = "no policy can ask or say this, which is told with its place"
)

// known lists the fields of filters that are read or change no decision. The program could
// not say anything of another field.
var known = messages.Closed{
	messages.HTTPRBAC: {
		apart:   "rules matcher shadow_rules shadow_matcher",
		counted: "rules_stat_prefix shadow_rules_stat_prefix track_per_rule_stats",
	},
	messages.NetworkRBAC: {
		apart:    "rules matcher shadow_rules shadow_matcher",
		counted:  "stat_prefix shadow_rules_stat_prefix",
		replayed: "enforcement_type",
		unsaid:   "delay_deny",
	},
	"envoy.config.rbac.v3.RBAC":   {messages.Read: "action policies", counted: "audit_logging_options"},
	"envoy.config.rbac.v3.Action": {messages.Read: "name action"},
	"envoy.config.rbac.v3.Policy": {messages.Read: "permissions principals", unsaid: "condition checked_condition"},
	"envoy.config.rbac.v3.Permission": {
		messages.Read: "and_rules or_rules not_rule header url_path uri_template metadata sourced_metadata",
		apart:         "any destination_port destination_port_range",
		unsaid:        "destination_ip requested_server_name matcher",
	},
	"envoy.config.rbac.v3.Permission.Set": {messages.Read: "rules"},
	"envoy.config.rbac.v3.Principal": {
		messages.Read: "and_ids or_ids not_id header url_path authenticated custom source_ip direct_remote_ip remote_ip metadata sourced_metadata",
		apart:         "any",
		unsaid:        "filter_state",
	},
	"envoy.config.rbac.v3.Principal.Set":                            {messages.Read: "ids"},
	"envoy.config.rbac.v3.Principal.Authenticated":                  {messages.Read: "principal_name"},
	"envoy.config.rbac.v3.SourcedMetadata":                          {messages.Read: "metadata_matcher", apart: "metadata_source"},
	"envoy.type.matcher.v3.MetadataMatcher":                         {messages.Read: "path value", apart: "filter invert"},
	"envoy.type.matcher.v3.MetadataMatcher.PathSegment":             {apart: "key"},
	"envoy.type.matcher.v3.ValueMatcher":                            {messages.Read: "string_match list_match or_match", unsaid: "null_match double_match bool_match present_match"},
	"envoy.type.matcher.v3.ListMatcher":                             {messages.Read: "one_of"},
	"envoy.type.matcher.v3.OrMatcher":                               {messages.Read: "value_matchers"},
	"envoy.extensions.matching.input_matchers.metadata.v3.Metadata": {messages.Read: "value", apart: "invert"},
	"envoy.config.route.v3.HeaderMatcher": {
		messages.Read: "string_match",
		apart:         "name present_match invert_match treat_missing_header_as_empty",
		unsaid:        "exact_match safe_regex_match range_match prefix_match suffix_match contains_match",
	},
	"envoy.config.route.v3.RouteMatch": {
		messages.Read: "headers query_parameters safe_regex",
		apart:         "prefix path path_separated_prefix connect_matcher case_sensitive",
		unsaid:        "path_match_policy runtime_fraction cookies grpc tls_context dynamic_metadata filter_state",
	},
	"envoy.config.route.v3.QueryParameterMatcher":                        {messages.Read: "string_match", apart: "name", unsaid: "present_match"},
	"envoy.type.matcher.v3.PathMatcher":                                  {messages.Read: "path"},
	"envoy.type.matcher.v3.StringMatcher":                                {messages.Read: "exact prefix suffix contains safe_regex ignore_case", unsaid: "custom"},
	"envoy.type.matcher.v3.RegexMatcher":                                 {messages.Read: "regex google_re2"},
	"envoy.type.matcher.v3.RegexMatcher.GoogleRE2":                       {apart: "max_program_size"},
	"xds.type.matcher.v3.StringMatcher":                                  {messages.Read: "exact prefix suffix contains safe_regex ignore_case", unsaid: "custom"},
	"xds.type.matcher.v3.RegexMatcher":                                   {messages.Read: "regex google_re2"},
	"xds.type.matcher.v3.RegexMatcher.GoogleRE2":                         {},
	"envoy.config.core.v3.TypedExtensionConfig":                          {messages.Read: "typed_config", counted: "name"},
	"xds.core.v3.TypedExtensionConfig":                                   {messages.Read: "typed_config", counted: "name"},
	"envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig": {messages.Read: "path_template"},
	"envoy.extensions.rbac.principals.mtls_authenticated.v3.Config":      {unsaid: "san_matcher any_validated_client_certificate"},
	"envoy.extensions.matching.input_matchers.ip.v3.Ip":                  {messages.Read: "cidr_ranges", counted: "stat_prefix"},
	"envoy.config.core.v3.CidrRange":                                     {apart: "address_prefix prefix_len"},
	"xds.type.matcher.v3.Matcher":                                        {messages.Read: "matcher_list matcher_tree on_no_match"},
	"xds.type.matcher.v3.Matcher.MatcherList":                            {messages.Read: "matchers"},
	"xds.type.matcher.v3.Matcher.MatcherList.FieldMatcher":               {messages.Read: "predicate on_match"},
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate":                  {messages.Read: "single_predicate or_matcher and_matcher not_matcher"},
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.PredicateList":    {messages.Read: "predicate"},
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate":  {messages.Read: "value_match custom_match", apart: "input"},
	"xds.type.matcher.v3.Matcher.MatcherTree":                            {messages.Read: "exact_match_map prefix_match_map", apart: "input", unsaid: "custom_match"},
	"xds.type.matcher.v3.Matcher.MatcherTree.MatchMap":                   {messages.Read: "map"},
	"xds.type.matcher.v3.Matcher.OnMatch":                                {messages.Read: "matcher action", unsaid: "keep_matching"},
}

var checkKnown = known.Checker()
