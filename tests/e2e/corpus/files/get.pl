# SPDX-License-Identifier: MIT
# Prints what a URL gives, by WWW::Curl.
use WWW::Curl::Simple;
my $answer = WWW::Curl::Simple->new->get($ARGV[0]);
print $answer->content;
exit(!$answer->is_success);
