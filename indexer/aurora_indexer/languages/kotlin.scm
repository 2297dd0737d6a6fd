; Captures are explained in languages/__init__.py.
;
; This grammar names next to none of its nodes' fields.

(class_declaration . (modifiers)? . "class" (type_identifier) @name) @class
(class_declaration . (modifiers) . [(line_comment) (multiline_comment)]+ . "class" (type_identifier) @name) @class
(class_declaration "interface" (type_identifier) @name) @interface
(class_declaration "enum" (type_identifier) @name) @enum
(class_declaration [(class_body) (enum_class_body)] @body)
(object_declaration (type_identifier) @name) @class
(object_declaration (class_body) @body)
(companion_object (type_identifier) @name) @class
(companion_object (class_body) @body) @scope
(object_literal (class_body) @body) @scope
(enum_entry (simple_identifier) @name (class_body) @body) @scope

(function_declaration (simple_identifier) @name) @function
(function_declaration (function_body) @body)
(function_declaration receiver: (receiver_type [
  (user_type . (type_identifier) @qualifier)
  (nullable_type (user_type . (type_identifier) @qualifier))
]))
(secondary_constructor "constructor" @name) @method
(secondary_constructor (statements) @body)
(property_declaration (variable_declaration (simple_identifier) @name) (getter (function_body)) @body) @function
(property_declaration receiver: (receiver_type (user_type . (type_identifier) @qualifier)))
(type_alias (type_identifier) @name) @type

(modifiers (annotation) @attribute)
[(line_comment) (multiline_comment)] @comment
[(package_header) (shebang_line) (file_annotation)] @trivia

(call_expression . [(simple_identifier) (navigation_expression)] @call)
(delegation_specifier [
  (user_type) @inherits
  (constructor_invocation (user_type) @inherits)
  (explicit_delegation (user_type) @inherits)
])

[(if_expression) (when_entry) (catch_block)] @branch
[(for_statement) (while_statement) (do_while_statement)] @loop

(import_header) @import
