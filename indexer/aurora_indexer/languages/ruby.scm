; Captures are explained in languages/__init__.py.

(module name: (_) @name) @namespace
(class name: (_) @name) @class
(module body: (_) @body)
(class body: (_) @body)
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(method body: (_) @body)
(singleton_method body: (_) @body)
(singleton_class) @scope
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_factory
    method: (identifier)
    block: [(do_block body: (_) @body) (block body: (_) @body)])
  (#any-of? @_factory "Struct" "Class" "Data" "Module")) @class

; private def …, and Sorbet's sig { … } above. `_` is a call, as in ecmascript.scm: naming it takes long to compile.
(_ arguments: (_ . [(method) (singleton_method)])) @wrapper
(_ . method: (identifier) @_sig block: (_ body: (_)) (#eq? @_sig "sig")) @attribute

(comment) @comment

(call receiver: [(identifier) (constant) (self) (scope_resolution) (instance_variable)] @receiver)
(call method: [(identifier) (constant)] @call)
(identifier) @bare
[
  (method_parameters (identifier) @local)
  (block_parameters (identifier) @local)
  (lambda_parameters (identifier) @local)
  (destructured_parameter (identifier) @local)
  (optional_parameter name: (identifier) @local)
  (keyword_parameter name: (identifier) @local)
  (splat_parameter name: (identifier) @local)
  (hash_splat_parameter name: (identifier) @local)
  (block_parameter name: (identifier) @local)
  (assignment left: (identifier) @local)
  (operator_assignment left: (identifier) @local)
  (left_assignment_list (identifier) @local)
  (destructured_left_assignment (identifier) @local)
  (rest_assignment (identifier) @local)
  (exception_variable (identifier) @local)
  (for pattern: (identifier) @local)
  (array_pattern (identifier) @local)
  (keyword_pattern value: (identifier) @local)
  (as_pattern name: (identifier) @local)
  (match_pattern pattern: (identifier) @local)
  (test_pattern pattern: (identifier) @local)
  (in_clause pattern: (identifier) @local)
  (alias (identifier) @local)
  (undef (identifier) @local)
]
(superclass (_) @inherits)
(call
  !receiver
  method: (identifier) @_mixin
  arguments: (argument_list [(constant) (scope_resolution)] @inherits)
  (#any-of? @_mixin "include" "extend" "prepend"))

[(if) (elsif) (unless) (if_modifier) (unless_modifier) (when) (in_clause) (rescue) (conditional)] @branch
[(while) (until) (for) (while_modifier) (until_modifier)] @loop

(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string))
  (#any-of? @_require "require" "require_relative" "load")) @import
