; Captures are explained in languages/__init__.py.

(function_definition name: (name) @name body: (_) @body) @function
(class_declaration name: (name) @name body: (_) @body) @class
(interface_declaration name: (name) @name body: (_) @body) @interface
(trait_declaration name: (name) @name body: (_) @body) @trait
(enum_declaration name: (name) @name body: (_) @body) @enum
(method_declaration name: (name) @name) @method
(method_declaration body: (_) @body)
(anonymous_class body: (_) @body) @scope

(attribute_list) @attribute
(comment) @comment
[(php_tag) (php_end_tag) (declare_statement)] @trivia
(namespace_definition !body) @trivia
(namespace_definition "namespace" @trivia)
(namespace_definition name: (_) @trivia)

(function_call_expression function: [(name) @call (qualified_name (name) @call)])
(member_call_expression object: (variable_name (name) @receiver))
(member_call_expression object: (member_access_expression object: (variable_name)) @receiver)
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression scope: [(relative_scope) @receiver (name) @receiver (qualified_name (name) @receiver)])
(scoped_call_expression name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call)])

(base_clause [(name) @inherits (qualified_name (name) @inherits)])
(class_interface_clause [(name) @inherits (qualified_name (name) @inherits)])
(use_declaration [(name) @inherits (qualified_name (name) @inherits)])

[
  (if_statement) (else_if_clause) (case_statement) (match_conditional_expression) (catch_clause)
  (conditional_expression)
] @branch
[(for_statement) (foreach_statement) (while_statement) (do_statement)] @loop

(namespace_use_declaration) @import
(expression_statement [
  (require_expression) (require_once_expression) (include_expression) (include_once_expression)
]) @import
